/** Turns the summary that a Provider wrote into the one compaction item that Codex waits for. */
import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Clock } from '../../platform/types.ts'
import { streamOf } from '../upstream/index.ts'
import type { UpstreamAnswer } from '../upstream/index.ts'
import { terminalOf, usageOf } from './answer-facts.ts'
import type { FactMap } from './answer-facts.ts'
import { sealSummary } from './compaction-request.ts'
import type { ExchangeNotes } from './exchange-notes.ts'
import { disconnectEvent } from './refusals.ts'
import { createSseFraming } from './sse.ts'

/** How often a client that waits for the whole summary is told that it comes. */
const AWAKE_MS = 10_000
const MAX_BYTES = 8_388_608

const Content = z.looseObject({ type: z.string(), text: z.string().optional() })
const Item = z.looseObject({ type: z.string(), content: z.array(Content).optional() })
const Response = z.looseObject({ id: z.string().optional(), output: z.array(Item).optional() })
const Event = z.looseObject({ type: z.string(), delta: z.string().optional(), response: Response.optional() })

/** A 2xx answer to a question for a summary. An error inside it passes; an end without its event is one. */
export async function answerCompaction({
  clock,
  answer,
  response,
  notes,
}: {
  clock: Clock
  answer: UpstreamAnswer
  response: ServerResponse
  notes: ExchangeNotes
}): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  using _awake = keepAwake(clock, response)
  const onClose = (): void => answer.body.destroy()
  response.once('close', onClose)
  const outcome = await readSummary(answer, notes)
  response.off('close', onClose)
  if (response.destroyed) {
    notes.end = 'client_aborted'
    return
  }
  const text = outcome.kind === 'summary' ? compacted(outcome.text, outcome.response) : outcome.event
  notes.sent(Buffer.byteLength(text))
  notes.end = outcome.kind === 'summary' ? 'completed' : outcome.kind
  if (outcome.kind === 'upstream_disconnected') notes.code = 'upstream_disconnected'
  response.end(text)
}

/** Comments, until it is disposed. */
function keepAwake(clock: Clock, response: ServerResponse): Disposable {
  const again = (): Disposable =>
    clock.after(AWAKE_MS, () => {
      response.write(': writing a summary\n\n')
      timer = again()
    })
  let timer = again()
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
}

type Outcome =
  | { kind: 'summary'; text: string; response: z.infer<typeof Response> }
  | { kind: 'failed' | 'incomplete' | 'upstream_disconnected'; event: string }

const CUT: Outcome = { kind: 'upstream_disconnected', event: disconnectEvent('responses') }

async function readSummary(answer: UpstreamAnswer, notes: ExchangeNotes): Promise<Outcome> {
  let said = ''
  let data: Buffer[] = []
  const ended: { outcome: Outcome | null } = { outcome: null }
  let bytes = 0
  const framing = createSseFraming({
    data: (piece) => void data.push(Buffer.from(piece)),
    dispatched() {
      const text = Buffer.concat(data).toString('utf8')
      data = []
      const event = Event.safeParse(parse(text))
      if (!event.success || ended.outcome !== null) return
      const { type, delta, response } = event.data
      if (type === 'response.output_text.delta') said += delta ?? ''
      const terminal = terminalOf('responses', type, new Map())
      if (terminal === 'completed') ended.outcome = summaryOf(said, response, notes)
      else if (terminal !== null) ended.outcome = { kind: terminal, event: `event: ${type}\ndata: ${text}\n\n` }
    },
  })
  try {
    for await (const chunk of streamOf(answer.body) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) return CUT
      framing.push(chunk)
      if (ended.outcome !== null) break
    }
  } catch {
    return ended.outcome ?? CUT
  }
  return ended.outcome ?? CUT
}

function summaryOf(said: string, response: z.infer<typeof Response> | undefined, notes: ExchangeNotes): Outcome {
  const text = said === '' ? textOf(response) : said
  if (response?.id === undefined || text.trim() === '') return CUT
  notes.summary = {
    usage: usageOf('responses', usageFacts(response)),
    modelReported: null,
    responseId: response.id,
    streamError: null,
  }
  return { kind: 'summary', text, response }
}

function textOf(response: z.infer<typeof Response> | undefined): string {
  const messages = response?.output?.filter((item) => item.type === 'message') ?? []
  return messages.flatMap((item) => item.content?.map((part) => part.text ?? '') ?? []).join('')
}

/** The response as the Provider told it, its output replaced by the one item. */
function compacted(text: string, response: z.infer<typeof Response>): string {
  const id = response.id ?? ''
  const item = { type: 'compaction', id: `cmp_${id}`, encrypted_content: sealSummary(text) }
  return [
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, output: [item] } },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}

function usageFacts(response: Record<string, unknown>): FactMap {
  const facts = new Map<string, string>()
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'number') facts.set(path, String(value))
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) walk(inner, `${path}.${key}`)
    }
  }
  walk(response['usage'], 'usage')
  return facts
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
