import { describe, expect, test } from 'vitest'
import { compactionEdits, sealSummary } from '../../../../src/main/providers/router/compaction-request.ts'
import { applySplices } from '../../../../src/main/providers/router/splices.ts'
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

const edited = (preset: string, body: string): { text: string; asks: boolean } => {
  const bytes = Buffer.from(body)
  const { splices, asks } = compactionEdits({ routeProtocol: 'responses', preset }, [bytes])
  return { text: Buffer.concat(applySplices([bytes], splices)).toString(), asks }
}

describe('the request', () => {
  test('PR-A78 at OpenAI the trigger passes as it came', () => {
    expect(edited('openai', ASKING)).toEqual({ text: ASKING, asks: false })
  })

  test('PR-A78 elsewhere the trigger is a question without tools, and every other byte stays', () => {
    const { text, asks } = edited('custom', ASKING)
    expect(asks).toBe(true)
    expect(text.replace(/\{"type":"message","role":"user".*?\}\]\}/, TRIGGER)).toBe(ASKING.replace(TOOLS, '"tools":[]'))
    expect(text).toContain('hand-over summary')
  })

  test('PR-A78 an item of ours is the text again, at OpenAI too; one of a Provider stays sealed', () => {
    const body = `{"model":"m","input":[{"encrypted_content":"${sealSummary(SUMMARY)}","type":"compaction"},{"type":"compaction","encrypted_content":"gAAA"}]}`
    const said = JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text: SUMMARY }] })
    for (const preset of ['openai', 'custom']) {
      expect(edited(preset, body).text).toBe(
        `{"model":"m","input":[${said},{"type":"compaction","encrypted_content":"gAAA"}]}`,
      )
    }
  })

  test('the word is found where two chunks meet', () => {
    const body = Buffer.from(ASKING)
    for (let cut = 0; cut <= body.length; cut += 1) {
      const chunks = [body.subarray(0, cut), body.subarray(cut, cut + 1), body.subarray(cut + 1)]
      expect(compactionEdits({ routeProtocol: 'responses', preset: 'custom' }, chunks).asks).toBe(true)
    }
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
