/** `fetch`: one page as text. Only reads, only over http and https, bounded in time, size and redirects. */
import { z } from 'zod'

import { decodeText } from './paths.ts'
import type { AgentTool, PlannedCall } from './types.ts'
import { shownText, ToolError } from './types.ts'

const TIMEOUT_MS = 30_000
const BODY_MAX_BYTES = 2 * 1024 * 1024
const TEXT_MAX_CHARS = 256 * 1024

const Input = z.object({
  url: z
    .url({ protocol: /^https?$/ })
    .max(8_192)
    .describe('An http or https address.'),
})

export const fetchTool: AgentTool<z.infer<typeof Input>> = {
  name: 'fetch',
  kind: 'fetch',
  description: 'Get a text or HTML page by its address; HTML is answered as plain text.',
  input: Input,
  async plan({ url }): Promise<PlannedCall> {
    return {
      title: `Fetch ${url}`,
      locations: [],
      action: { kind: 'other', text: `GET ${url}` },
      preview: [],
      async run(signal) {
        const text = await fetchText(url, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]))
        return { text, shown: [shownText(text)], end: 'done' }
      },
    }
  },
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  let response: Response
  try {
    // A redirect leads where nobody was asked about: it is told, and the model may ask for that address.
    response = await fetch(url, {
      signal,
      redirect: 'manual',
      headers: { accept: 'text/*, application/json, */*;q=0.1' },
    })
  } catch (thrown) {
    throw new ToolError(`${url} cannot be reached: ${reasonOf(thrown)}`, { cause: thrown })
  }
  const location = response.headers.get('location')
  if (response.status >= 300 && response.status < 400 && location !== null) {
    await response.body?.cancel()
    return `[${response.status}: it has moved to ${new URL(location, url).href}]`
  }
  const { bytes, cut } = await readBody(response)
  const text = decodeText(cut ? bytes.subarray(0, bytes.lastIndexOf(10) + 1) : bytes)
  if (text === null) throw new ToolError(`${url} is not UTF-8 text.`)
  const html = response.headers.get('content-type')?.includes('html') === true
  const plain = html ? htmlToText(text) : text
  const bounded =
    plain.length > TEXT_MAX_CHARS ? `${plain.slice(0, TEXT_MAX_CHARS)}\n[cut at 256 Ki characters]` : plain
  return response.ok ? bounded : `[status ${response.status}]\n${bounded}`
}

async function readBody(response: Response): Promise<{ bytes: Buffer; cut: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    if (length > BODY_MAX_BYTES) return { bytes: Buffer.concat(chunks).subarray(0, BODY_MAX_BYTES), cut: true }
  }
  return { bytes: Buffer.concat(chunks), cut: false }
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.cause instanceof Error && thrown.cause.message !== '' ? thrown.cause.message : thrown.message
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Enough to read a page by: scripts and tags go, blocks become lines. */
export function htmlToText(html: string): string {
  return withoutHiddenParts(html)
    .replace(/<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6]|\/pre|\/section)\b[^>]*>/gi, '\n')
    .replace(/<[a-z/!][^<>]*>/gi, '')
    .replace(/&(amp|lt|gt|quot|apos|nbsp);/g, (_all, name: string) => ENTITIES[name] ?? '')
    .replace(/&#(\d{1,6});/g, (all, code: string) =>
      Number(code) <= 0x10ffff ? String.fromCodePoint(Number(code)) : all,
    )
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** One pass: a page with a million openings and no end must cost no more than another. */
function withoutHiddenParts(html: string): string {
  const opening = /<!--|<(script|style|noscript|svg)\b/gi
  let kept = ''
  let at = 0
  for (let open = opening.exec(html); open !== null; open = opening.exec(html)) {
    kept += html.slice(at, open.index)
    const closing = open[1] === undefined ? /-->/g : new RegExp(`</${open[1]}\\s*>`, 'gi')
    closing.lastIndex = opening.lastIndex
    if (closing.exec(html) === null) return kept
    at = closing.lastIndex
    opening.lastIndex = at
  }
  return kept + html.slice(at)
}
