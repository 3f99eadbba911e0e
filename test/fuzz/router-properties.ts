/** What holds of the Router's readers for any input. A few rounds run with the unit tests, `npm run test:fuzz` runs for minutes. */
import fc from 'fast-check'
import { AppError } from '../../src/shared/errors.ts'
import { watchEvents } from '../../src/main/providers/router/answer-watch.ts'
import { compactionEdits, sealSummary } from '../../src/main/providers/router/compaction-request.ts'
import { createRequestReader } from '../../src/main/providers/router/request-reader.ts'
import { applySplices } from '../../src/main/providers/router/splices.ts'
import type { RouteProtocol } from '../../src/main/providers/router/index.ts'

export interface FuzzProperty {
  readonly name: string
  readonly property: fc.IProperty<unknown[]> | fc.IRawProperty<unknown>
}

/** A stream of each dialect as its Provider sends it: names, comments, CRLF, several data lines, text beyond ASCII. */
export const STREAMS: Readonly<Record<RouteProtocol, string>> = {
  responses: [
    'event: response.created\ndata: {"type":"response.created","response":{"id":"r1"}}\n\n',
    ': keep alive\n\n',
    'event: response.output_text.delta\r\ndata: {"type":"response.output_text.delta","delta":"Grüße – \\"response.completed\\""}\r\n\r\n',
    'data: {"type":"response.output_item.done",\ndata: "item":{"type":"message"}}\n\n',
    'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r1","model":"m","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":80},"output_tokens":7}}}\n\n',
  ].join(''),
  anthropic_messages: [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m1","model":"m","usage":{"input_tokens":20,"output_tokens":1}}}\n\n',
    'event: ping\ndata: {"type":"ping"}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"日本語 🙂"}}\n\n',
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}\n\n',
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  ].join(''),
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** The bytes in pieces of those sizes, again and again. */
export function pieces(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const out: Buffer[] = []
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? bytes.length
    out.push(bytes.subarray(at, at + size))
    at += size
  }
  return out
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })

const members = fc.dictionary(
  fc.string({ unit: 'binary' }).filter((key) => key !== 'model' && key !== '__proto__'),
  fc.jsonValue({ maxDepth: 6 }),
)

const modelSplice = fc.property(
  members,
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 1 }),
  fc.nat(),
  fc.constantFrom(undefined, 1, '\t'),
  sizes,
  (rest, from, to, at, space, cuts) => {
    const entries = Object.entries<unknown>(rest)
    entries.splice(at % (entries.length + 1), 0, ['model', from])
    const whole = Buffer.from(JSON.stringify(Object.fromEntries(entries), null, space))
    const reader = createRequestReader({ protocol: 'responses', strip: false })
    const chunks = pieces(whole, cuts)
    for (const chunk of chunks) reader.write(chunk)
    const { model } = reader.end()
    const out = Buffer.concat(applySplices(chunks, [{ start: model.start, end: model.end, text: JSON.stringify(to) }]))
    check(model.text === from, 'the model was read otherwise')
    check(out.subarray(0, model.start).equals(whole.subarray(0, model.start)), 'a byte before the span changed')
    check(
      out.subarray(out.length - (whole.length - model.end)).equals(whole.subarray(model.end)),
      'a byte behind the span changed',
    )
    const value: unknown = JSON.parse(out.toString())
    const wanted = { ...(JSON.parse(whole.toString()) as object), model: to }
    check(JSON.stringify(value) === JSON.stringify(wanted), 'another value changed')
  },
)

/** Half of the time a valid body with a few bytes changed, which finds more than noise does. */
const nearJson = fc
  .tuple(members, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }))
  .map(([rest, changes]) => {
    const bytes = Buffer.from(JSON.stringify({ model: 'm', ...rest }))
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte
    return bytes
  })
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  nearJson,
)

const sameVerdict = fc.property(anyBytes, sizes, fc.boolean(), (bytes, cuts, strip) => {
  const reader = createRequestReader({ protocol: 'responses', strip })
  let accepted: boolean
  try {
    for (const chunk of pieces(bytes, cuts)) reader.write(chunk)
    accepted = reader.end().model.text !== null
  } catch (error) {
    check(error instanceof AppError, 'it failed with another error than its own')
    accepted = false
  }
  if (accepted) check(isObjectWithModel(bytes), 'it took what JSON.parse does not')
})

function isObjectWithModel(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'model' in value && typeof value.model === 'string'
  } catch {
    return false
  }
}

const sameFacts = fc.property(fc.constantFrom('responses', 'anthropic_messages'), sizes, (protocol, cuts) => {
  const bytes = Buffer.from(STREAMS[protocol])
  const whole = watchEvents(protocol)
  whole.push(bytes)
  const cut = watchEvents(protocol)
  for (const piece of pieces(bytes, cuts)) cut.push(piece)
  const told = (watch: typeof whole) => JSON.stringify([watch.terminal(), watch.atBoundary(), watch.summary()])
  check(told(cut) === told(whole), 'a stream in pieces says something else than the whole of it')
  check(whole.terminal() === 'completed' && whole.atBoundary(), 'the stream did not end')
})

const summaries = fc.property(fc.string({ unit: 'binary' }), sizes, (text, cuts) => {
  const item = JSON.stringify({ type: 'compaction', encrypted_content: sealSummary(text) })
  const chunks = pieces(Buffer.from(`{"model":"m","input":[1,${item},null]}`), cuts)
  const { splices } = compactionEdits({ routeProtocol: 'responses', preset: 'openai' }, chunks)
  const out: unknown = JSON.parse(Buffer.concat(applySplices(chunks, splices)).toString())
  // A lone surrogate has no UTF-8 form.
  const said = { type: 'message', role: 'user', content: [{ type: 'input_text', text: text.toWellFormed() }] }
  check(JSON.stringify(out) === JSON.stringify({ model: 'm', input: [1, said, null] }), 'the summary is another text')
})

export const ROUTER_PROPERTIES: readonly FuzzProperty[] = [
  { name: 'a splice of the model changes its span alone, whatever the body and its chunks', property: modelSplice },
  {
    name: 'whatever the bytes, a body is taken only if it is JSON, and refused in its own words',
    property: sameVerdict,
  },
  { name: 'a stream says the same however it is cut', property: sameFacts },
  { name: 'a summary made here is the same text again, whatever it says', property: summaries },
]
