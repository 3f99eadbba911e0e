/** `read`: text of a file by lines, bounded in bytes, lines and in how far it looks. */
import { z } from 'zod'

import { decodeText, displayPath, fileError, openRegular, resolvePath } from './paths.ts'
import type { AgentTool, PlannedCall } from './types.ts'
import { shownText, ToolError } from './types.ts'

export const READ_MAX_BYTES = 256 * 1024
export const READ_MAX_LINES = 2_000
/** How deep into a file a call looks for its first line. */
const SCAN_MAX_BYTES = 256 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const LF = 10

const Input = z.object({
  path: z.string().min(1).max(4_096).describe('Relative to the project folder, or absolute.'),
  offset: z.int().min(1).optional().describe('First line to read, counted from 1.'),
  limit: z.int().min(1).max(READ_MAX_LINES).optional().describe('How many lines, at most 2000.'),
})

export const readTool: AgentTool<z.infer<typeof Input>> = {
  name: 'read',
  kind: 'read',
  description: 'Read a UTF-8 text file, at most 2000 lines or 256 KiB at a time.',
  input: Input,
  async plan({ path, offset = 1, limit = READ_MAX_LINES }, workspace): Promise<PlannedCall> {
    const absolute = await resolvePath(path, workspace)
    const title = `Read ${await displayPath(absolute, workspace)}`
    return {
      title,
      locations: [absolute],
      action: { kind: 'other', text: `Read ${absolute}` },
      preview: [],
      async run(signal) {
        const text = await readText(absolute, { offset, limit }, signal)
        return { text, shown: [shownText(text)], end: 'done' }
      },
    }
  },
}

/** @throws ToolError: missing, binary, no regular file, or `offset` lies behind its end. */
export async function readText(
  path: string,
  range: { offset: number; limit: number },
  signal: AbortSignal,
): Promise<string> {
  const handle = await openRegular(path)
  try {
    const kept: Buffer[] = []
    let keptBytes = 0
    let line = 1
    let scanned = 0
    let more = false
    const lastLine = range.offset + range.limit - 1
    const buffer = Buffer.alloc(CHUNK_BYTES)
    while (!more) {
      signal.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      if (scanned === 0 && buffer.subarray(0, Math.min(bytesRead, 8_192)).includes(0)) throw binary(path)
      scanned += bytesRead
      if (scanned > SCAN_MAX_BYTES) throw new ToolError(`Line ${range.offset} lies too deep in ${path} to be read.`)
      for (let start = 0; start < bytesRead && !more;) {
        const feed = buffer.subarray(0, bytesRead).indexOf(LF, start)
        const end = feed === -1 ? bytesRead : feed + 1
        if (line > lastLine) more = true
        else if (line >= range.offset) {
          const piece = buffer.subarray(start, Math.min(end, start + READ_MAX_BYTES - keptBytes))
          kept.push(Buffer.from(piece))
          keptBytes += piece.length
          if (piece.length < end - start) more = true
        }
        if (feed !== -1 && !more) line += 1
        start = end
      }
    }
    if (keptBytes === 0 && range.offset > 1) throw new ToolError(`${path} ends before line ${range.offset}.`)
    const bytes = Buffer.concat(kept)
    const cut = more && keptBytes >= READ_MAX_BYTES
    const text = decodeText(cut ? wholeCharacters(bytes) : bytes)
    if (text === null) throw binary(path)
    if (!more) return text
    const next = cut
      ? `[Cut at 256 KiB, inside line ${line}. Continue with offset ${line}, or search.]`
      : `[There are more lines. Continue with offset ${line}.]`
    return `${text}${text.endsWith('\n') ? '' : '\n'}${next}`
  } catch (thrown) {
    if (signal.aborted) throw thrown
    throw fileError(thrown, path)
  } finally {
    await handle.close()
  }
}

function binary(path: string): ToolError {
  return new ToolError(`${path} is not UTF-8 text, so it cannot be read here.`)
}

/** Drops a character that the bound cut in two. */
function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length
  let back = 0
  while (back < 4 && end - back > 0) {
    back += 1
    const byte = bytes[end - back] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    if (size > back) end -= back
    break
  }
  return bytes.subarray(0, end)
}
