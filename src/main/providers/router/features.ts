/** What a Provider's Responses API is known to lack: said before the request, by place and type, never with its text. */
import { AppError } from '../../../shared/errors.ts'
import { readInTurns } from './body-pass.ts'
import type { Pace } from './body-pass.ts'
import { createPathVisitor } from './json-paths.ts'
import type { JsonPath } from './json-paths.ts'
import { createJsonScanner } from './json-scanner.ts'
import type { RouteBinding } from './types.ts'

interface Unsupported {
  readonly tools: ReadonlySet<string>
  readonly input: ReadonlySet<string>
}

/** From the Providers' own documentation. DeepSeek keeps no state between requests and hosts few tools. */
const BY_PRESET: Readonly<Record<string, Unsupported>> = {
  deepseek: {
    tools: new Set(['file_search', 'code_interpreter', 'computer_use_preview', 'image_generation', 'mcp']),
    input: new Set(['item_reference', 'computer_call', 'computer_call_output', 'image_generation_call', 'mcp_call']),
  },
}

/** @throws AppError `responses_feature_unsupported`; as `pace`. */
export async function checkFeatures(
  { preset, routeProtocol }: Pick<RouteBinding, 'preset' | 'routeProtocol'>,
  chunks: readonly Uint8Array[],
  pace: Pace,
): Promise<void> {
  const unsupported = routeProtocol === 'responses' ? BY_PRESET[preset] : undefined
  if (unsupported === undefined) return
  let index = -1
  const listOf = (path: JsonPath): 'tools' | 'input' | null =>
    path[0] === 'tools' || path[0] === 'input' ? path[0] : null
  const isItem = (path: JsonPath): boolean => path.length === 2 && path[1] === null && listOf(path) !== null
  const isType = (path: JsonPath): boolean => path.length === 3 && path[2] === 'type' && isItem(path.slice(0, 2))
  const scanner = createJsonScanner(
    createPathVisitor({
      wantsKey: (path) => path.length === 0 || isItem(path),
      wantsText: isType,
      valueStarts(path) {
        if (path.length === 1) index = -1
        else if (isItem(path)) index++
      },
      valueEnds(path, _kind, text) {
        const list = listOf(path)
        if (text === null || list === null || !isType(path) || !unsupported[list].has(text)) return
        throw new AppError(
          'responses_feature_unsupported',
          `This Provider does not support what the request asks for: ${list}[${index}] is of type ${text}.`,
          { detail: `${list}[${index}].type: ${text}` },
        )
      },
    }),
    3,
  )
  await readInTurns(chunks, (piece) => scanner.write(piece), pace)
  scanner.end()
}
