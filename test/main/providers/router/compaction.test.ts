import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../../../src/main/platform/index.ts'
import type { Clock } from '../../../../src/main/platform/index.ts'
import { createRequestPace } from '../../../../src/main/providers/router/body-pass.ts'
import type { Pace } from '../../../../src/main/providers/router/body-pass.ts'
import { compactionEdits, sealSummary } from '../../../../src/main/providers/router/compaction-request.ts'
import { checkFeatures } from '../../../../src/main/providers/router/features.ts'
import { routeDigest } from '../../../../src/main/providers/router/index.ts'
import { applySplices, applySplicesInTurns } from '../../../../src/main/providers/router/splices.ts'
import { createFakeClock } from '../../../support/clock.ts'
import { answerEvents, call, open, startRouter, startUpstream } from './support.ts'

const TRIGGER = '{"type":"compaction_trigger"}'
const TOOLS = '"tools":[{"type":"function","name":"shell"}]'
const ASKING = `{"model":"model-a", ${TOOLS} ,"input":[{"type":"message"} , ${TRIGGER}],"n":1e400}`
const SUMMARY = 'Goal: fix it.\nDone: half – «так»'
const event = (data: { type: string; [key: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const SUMMARISED =
  event({ type: 'response.output_text.delta', delta: SUMMARY.slice(0, 9) }) +
  event({ type: 'response.output_text.delta', delta: SUMMARY.slice(9) }) +
  event({ type: 'response.completed', response: { id: 'r7', usage: { input_tokens: 9, output_tokens: 4 } } })

const atOnce = (): Promise<void> => Promise.resolve()

const edited = async (preset: string, body: string): Promise<{ text: string; asks: boolean }> => {
  const bytes = Buffer.from(body)
  const { splices, asks } = await compactionEdits({ routeProtocol: 'responses', preset }, [bytes], atOnce)
  return { text: Buffer.concat(applySplices([bytes], splices)).toString(), asks }
}

describe('the request', () => {
  test('PR-A78 at OpenAI the trigger passes as it came', async () => {
    expect(await edited('openai', ASKING)).toEqual({ text: ASKING, asks: false })
  })

  test('PR-A78 elsewhere the trigger is a question without tools, and every other byte stays', async () => {
    const { text, asks } = await edited('custom', ASKING)
    expect(asks).toBe(true)
    expect(text.replace(/\{"type":"message","role":"user".*?\}\]\}/, TRIGGER)).toBe(ASKING.replace(TOOLS, '"tools":[]'))
    expect(text).toContain('hand-over summary')
  })

  test('PR-A78 an item of ours is the text again, at OpenAI too; one of a Provider stays sealed', async () => {
    const body = `{"model":"m","input":[{"encrypted_content":"${sealSummary(SUMMARY)}","type":"compaction"},{"type":"compaction","encrypted_content":"gAAA"}]}`
    const said = JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text: SUMMARY }] })
    for (const preset of ['openai', 'custom']) {
      expect((await edited(preset, body)).text).toBe(
        `{"model":"m","input":[${said},{"type":"compaction","encrypted_content":"gAAA"}]}`,
      )
    }
  })

  test('the word is found where two chunks meet', async () => {
    const body = Buffer.from(ASKING)
    for (let cut = 0; cut <= body.length; cut += 1) {
      const chunks = [body.subarray(0, cut), body.subarray(cut, cut + 1), body.subarray(cut + 1)]
      const { asks } = await compactionEdits({ routeProtocol: 'responses', preset: 'custom' }, chunks, atOnce)
      expect(asks).toBe(true)
    }
  })
})

describe('a large body', () => {
  const item = `{"type":"compaction","encrypted_content":"${sealSummary('hello')}"}`
  const body = `{"model":"model-a","input":[${Array(20_000).fill(item).join()}]}`
  const manySplices = Array.from({ length: 10_000 }, (_, at) => ({ start: at * 9, end: at * 9 + 1, text: 'x' }))
  const edit = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`
  const bytes = Buffer.from(body)
  const binding = { routeProtocol: 'responses', preset: 'deepseek' } as const
  /** Each look at it is long after the one before, so that every step gives way. */
  const slow = (looked: (times: number) => void = () => undefined): Clock => {
    let times = 0
    return {
      ...createSystemClock(),
      monotonicMs() {
        looked(++times)
        return times * 9
      },
    }
  }
  const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    let turns = 0
    let working = true
    const turn = (): void => {
      if (!working) return
      turns++
      setImmediate(turn)
    }
    setImmediate(turn)
    await work()
    working = false
    return turns
  }

  test.each([
    ['is looked through for items', (pace: Pace) => compactionEdits(binding, [bytes], pace)],
    ['is looked through for what a Provider lacks', (pace: Pace) => checkFeatures(binding, [bytes], pace)],
    ['is edited', (pace: Pace) => applySplicesInTurns([bytes], manySplices, pace)],
  ])('%s in turns, and at once where that takes no time', async (_what, work) => {
    const { signal } = new AbortController()
    expect(await turnsDuring(() => work(createRequestPace(slow(), signal)))).toBeGreaterThan(100)
    expect(await turnsDuring(() => work(createRequestPace(createFakeClock(), signal)))).toBe(0)
    const ended = createRequestPace(createFakeClock(), AbortSignal.abort('it is over'))
    await expect(work(ended)).rejects.toBe('it is over')
  })

  test('many edits leave in few pieces', async () => {
    const out = await applySplicesInTurns([bytes], manySplices, atOnce)
    expect(out.length).toBeLessThan(2 + bytes.length / 65_536)
    const again = applySplices([bytes], manySplices.toReversed())
    expect(Buffer.concat(out).equals(Buffer.concat(again))).toBe(true)
  })

  test('one whose session ends meanwhile ends there, and the next is answered', async () => {
    await using upstream = await startUpstream()
    let route: string | null = null
    await using to = await startRouter({
      baseUrl: upstream.url,
      clock: slow((looks) => {
        if (looks === 100 && route !== null) to.router.abortRoute(route)
      }),
    })
    route = routeDigest(to.routeId)
    const reply = await call(to, { path: '/v1/responses', body })
    expect(reply.text).toContain('route_not_found')
    expect(upstream.seen).toEqual([])
    expect(await to.exchange()).toMatchObject({ end: 'refused', code: 'route_not_found' })
    expect(to.router.flights()).toBe(0)
    expect((await call(to, { path: '/v1/responses', body })).status).toBe(200)
    expect(upstream.seen[0]?.body.toString() === body.replaceAll(item, edit)).toBe(true)
  })
})

describe('the answer', () => {
  test('PR-A78 the summary goes out as exactly one item, with the id and usage of the Provider', async () => {
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, SUMMARISED)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const recorded = to.nextExchange()
    const reply = await call(to, { path: '/v1/responses', body: ASKING })
    const events = reply.text.split('\n\n').flatMap((text) => {
      const data = /^data: (.*)$/m.exec(text)?.[1]
      return data === undefined ? [] : [JSON.parse(data) as { type: string }]
    })
    const item = { type: 'compaction', id: 'cmp_r7', encrypted_content: sealSummary(SUMMARY) }
    expect(events).toEqual([
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: { id: 'r7', usage: { input_tokens: 9, output_tokens: 4 }, output: [item] },
      },
    ])
    expect(await recorded).toMatchObject({ flags: ['compacted'], end: 'completed', usage: { input: 9, output: 4 } })
    expect(to.marked).toHaveLength(1)
  })

  test('an error inside it passes, and an end without its event is one', async () => {
    const failure = event({ type: 'response.failed' })
    let answer = failure
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, answer)
      response.end()
    })
    await using to = await startRouter({ baseUrl: upstream.url })
    const first = to.nextExchange()
    expect((await call(to, { path: '/v1/responses', body: ASKING })).text).toBe(failure)
    expect(await first).toMatchObject({ end: 'failed' })
    answer = event({ type: 'response.output_text.delta', delta: 'half' })
    const second = to.nextExchange()
    expect((await call(to, { path: '/v1/responses', body: ASKING })).text).toContain('upstream_disconnected')
    expect(await second).toMatchObject({ end: 'upstream_disconnected', code: 'upstream_disconnected' })
  })

  test('a refusal of the Provider passes as it is', async () => {
    await using upstream = await startUpstream((_request, response) => response.writeHead(429).end('{"error":{}}'))
    await using to = await startRouter({ baseUrl: upstream.url })
    expect(await call(to, { path: '/v1/responses', body: ASKING })).toMatchObject({ status: 429, text: '{"error":{}}' })
  })

  test('comments keep a client awake while the summary is written', async () => {
    const clock = createFakeClock()
    const finish = Promise.withResolvers<void>()
    await using upstream = await startUpstream((_request, response) => {
      answerEvents(response, ': begun\n\n')
      void finish.promise.then(() => response.end(SUMMARISED))
    })
    await using to = await startRouter({ baseUrl: upstream.url, clock })
    const response = await open(to, { path: '/v1/responses', body: ASKING })
    let text = ''
    response.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await clock.advance(10_000)
    await expect.poll(() => text, { timeout: 10_000 }).toContain(': writing a summary')
    finish.resolve()
    await expect.poll(() => text, { timeout: 10_000 }).toContain('response.completed')
  })
})

test('PR-A78 a history that is stripped keeps the summaries made here, and loses those of a Provider', async () => {
  await using upstream = await startUpstream()
  await using to = await startRouter({
    baseUrl: upstream.url,
    binding: { historyPortability: 'strip_opaque_provider_state' },
  })
  const ours = `{"type":"compaction","encrypted_content":"${sealSummary('kept')}"}`
  const body = `{"model":"model-a","input":[{"type":"reasoning"},${ours},{"type":"compaction","encrypted_content":"gAAA"}]}`
  await call(to, { path: '/v1/responses', body })
  expect(upstream.seen[0]?.body.toString()).toBe(
    '{"model":"model-a","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"kept"}]}]}',
  )
})
