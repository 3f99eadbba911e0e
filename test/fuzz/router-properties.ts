/** What holds of the Router's readers for any input. A few rounds run with the unit tests, `npm run test:fuzz` runs for minutes. */
import fc from 'fast-check'
import { AppError } from '../../src/shared/errors.ts'
import { createFactReader } from '../../src/main/providers/router/answer-facts.ts'
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

/** Each chunk is read, and then its memory is somebody else's: who keeps a view of it reads other bytes. */
function lend(chunks: readonly Uint8Array[], read: (chunk: Buffer) => void): void {
  for (const chunk of chunks) {
    const lent = Buffer.from(chunk)
    read(lent)
    lent.fill(0xff)
  }
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
    lend(chunks, (chunk) => reader.write(chunk))
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
    lend(pieces(bytes, cuts), (chunk) => reader.write(chunk))
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

/** Lines as streams have them and as none should, each with an end of its own. */
const lines = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        '',
        '',
        ':',
        'event',
        'event: response.output_text.delta',
        'event:response.completed',
        'event: content_block_delta',
        'event: message_delta',
        'event: message_stop',
        'event: error',
        'data',
        'data: {"type":"response.completed",',
        'data:"response":{"id":"r1","usage":{"input_tokens":3}}}',
        'data: {"type":"message_delta","delta":{"stop_reason":"x"},"usage":{"output_tokens":9}}',
        'data: {"error":{"type":"overloaded_error"}}',
        'data:',
        'id: 7',
        'a line without a name '.repeat(8),
      ),
      fc.constantFrom('\n', '\n', '\r\n', '\r'),
    ),
    { maxLength: 24 },
  )
  .map((each) => each.flat().join(''))

function told(protocol: RouteProtocol, chunks: readonly Uint8Array[]): string {
  const watch = watchEvents(protocol)
  lend(chunks, (chunk) => watch.push(chunk))
  return JSON.stringify([watch.terminal(), watch.atBoundary(), watch.summary()])
}

const dialect = fc.constantFrom<RouteProtocol>('responses', 'anthropic_messages')

const sameFacts = fc.property(dialect, fc.option(lines), sizes, (protocol, any, cuts) => {
  const bytes = Buffer.from(any ?? STREAMS[protocol])
  const whole = told(protocol, [bytes])
  check(told(protocol, pieces(bytes, cuts)) === whole, 'a stream in pieces says something else than the whole of it')
  check(any !== null || whole.startsWith('["completed",true,'), 'the stream did not end')
})

const words = ['type', 'id', 'model', 'code', 'error', 'delta', 'usage', 'response', 'message'] as const
const counts = ['stop_reason', 'input_tokens', 'output_tokens', 'input_tokens_details', 'cached_tokens'] as const
const event = fc.dictionary(
  fc.constantFrom<string>(...words, ...counts),
  fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.oneof(fc.string({ unit: 'binary', maxLength: 9 }), fc.nat(), fc.double(), fc.constantFrom(null, true)),
      fc.dictionary(fc.constantFrom<string>(...words, ...counts), tie('value'), { maxKeys: 4 }),
      fc.array(tie('value'), { maxLength: 2 }),
    ),
  })).value,
)

/** What is short is parsed, what is long is scanned. */
const sameLong = fc.property(event, sizes, (said, cuts) => {
  const factsOf = (chunks: readonly Uint8Array[]): string => {
    const reader = createFactReader()
    lend(chunks, (chunk) => reader.write(chunk))
    return JSON.stringify([...reader.facts()].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
  const short = Buffer.from(JSON.stringify(said))
  const long = Buffer.from(JSON.stringify({ ...said, padding: 'x'.repeat(17_000) }))
  const head = pieces(long.subarray(0, 400), cuts)
  check(
    factsOf([short]) === factsOf([...head, long.subarray(400)]),
    'a long event says something else than a short one',
  )
})

const summaries = fc.asyncProperty(fc.string({ unit: 'binary' }), sizes, async (text, cuts) => {
  const item = JSON.stringify({ type: 'compaction', encrypted_content: sealSummary(text) })
  const chunks = pieces(Buffer.from(`{"model":"m","input":[1,${item},null]}`), cuts)
  const binding = { routeProtocol: 'responses', preset: 'openai' } as const
  const { splices } = await compactionEdits(binding, chunks, () => Promise.resolve())
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
  { name: 'an event says the same however long it is', property: sameLong },
  { name: 'a summary made here is the same text again, whatever it says', property: summaries },
]
