/**
 * Codex compacts a conversation by asking its Provider for one sealed item, which OpenAI alone can make. For the others
 * the trigger becomes a question for a summary, and the summary travels as an item of ours (`whc1.`). None of those ever
 * goes upstream: in later requests it is the text again.
 */
import { readInTurns } from './body-pass.ts'
import type { Pace } from './body-pass.ts'
import { createPathVisitor } from './json-paths.ts'
import { createJsonScanner } from './json-scanner.ts'
import type { Splice } from './splices.ts'
import type { RouteBinding } from './types.ts'

/** What marks a compaction item as made here: the rest is the base64url form of its text. */
export const OUR_COMPACTION = 'whc1.'
/** What the type of each such item begins with. */
export const COMPACTION = Buffer.from('compaction')
const QUESTION =
  'The conversation is about to be shortened: what you write now replaces everything before it. Write a hand-over summary for whoever goes on with this work. Name the goal, what was decided and why, what was done and in which files, commands and their results that still matter, what is left to do, and every detail (paths, names, figures, wishes of the user) that cannot be found out again. Write the summary only; call no tool.'

export interface CompactionEdits {
  readonly splices: readonly Splice[]
  /** The answer's text has to become a compaction item. */
  readonly asks: boolean
}

export const NO_COMPACTION: CompactionEdits = { splices: [], asks: false }

export function sealSummary(text: string): string {
  return OUR_COMPACTION + Buffer.from(text, 'utf8').toString('base64url')
}

/**
 * `chunks`: a whole body that the request reader took. It is read once more: only where that met an item of this kind.
 * @throws as `pace`.
 */
export async function compactionEdits(
  { routeProtocol, preset }: Pick<RouteBinding, 'routeProtocol' | 'preset'>,
  chunks: readonly Uint8Array[],
  pace: Pace,
): Promise<CompactionEdits> {
  if (routeProtocol !== 'responses') return NO_COMPACTION
  const splices: Splice[] = []
  let asks = false
  let tools: Splice | null = null
  let type: string | null = null
  let sealed: string | null = null
  const scanner = createJsonScanner(
    createPathVisitor({
      wantsKey: (path) => path.length === 0 || (path.length === 2 && path[0] === 'input'),
      wantsText: (path) => isItemMember(path, 'type') || isItemMember(path, 'encrypted_content'),
      valueStarts(path) {
        if (path.length !== 2 || path[0] !== 'input') return
        type = null
        sealed = null
      },
      valueEnds(path, kind, text, start, end) {
        if (isItemMember(path, 'type')) type = text
        else if (isItemMember(path, 'encrypted_content')) sealed = text
        else if (path.length === 1 && path[0] === 'tools') tools = { start, end, text: '[]' }
        else if (path.length === 2 && path[0] === 'input' && path[1] === null && kind === 'object') {
          if (type === 'compaction' && sealed?.startsWith(OUR_COMPACTION) === true) {
            splices.push({ start, end, text: userMessage(unseal(sealed)) })
          } else if (type === 'compaction_trigger' && preset !== 'openai') {
            asks = true
            splices.push({ start, end, text: userMessage(QUESTION) })
          }
        }
      },
    }),
    3,
  )
  await readInTurns(chunks, (piece) => scanner.write(piece), pace)
  scanner.end()
  if (asks && tools !== null) splices.push(tools)
  return { splices, asks }
}

function isItemMember(path: readonly (string | null)[], name: string): boolean {
  return path.length === 3 && path[0] === 'input' && path[1] === null && path[2] === name
}

function unseal(content: string): string {
  return Buffer.from(content.slice(OUR_COMPACTION.length), 'base64url').toString('utf8')
}

function userMessage(text: string): string {
  return JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
}
