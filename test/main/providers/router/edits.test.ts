import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planEdits } from '../../../../src/main/providers/router/edits.ts'
import { createRequestReader } from '../../../../src/main/providers/router/request-reader.ts'
import type { RequestFacts } from '../../../../src/main/providers/router/request-reader.ts'
import { applySplices } from '../../../../src/main/providers/router/splices.ts'
import type { RouteBinding, RouteProtocol } from '../../../../src/main/providers/router/index.ts'
import { aBinding } from './support.ts'

function read(text: string, options: { protocol?: RouteProtocol; strip?: boolean; chunk?: number } = {}): RequestFacts {
  const { protocol = 'responses', strip = false, chunk = 7 } = options
  const reader = createRequestReader({ protocol, strip })
  const whole = Buffer.from(text)
  for (let at = 0; at < whole.length; at += chunk) reader.write(whole.subarray(at, at + chunk))
  return reader.end()
}

function edit(text: string, binding: Partial<RouteBinding>, isEnabled = false): string {
  const full = aBinding('id', binding)
  const facts = read(text, { protocol: full.routeProtocol, strip: full.historyPortability !== null })
  const { splices } = planEdits(full, facts, () => isEnabled)
  return Buffer.concat(applySplices([Buffer.from(text)], splices)).toString('utf8')
}

const STRIP = { historyPortability: 'strip_opaque_provider_state' } as const

describe('splices', () => {
  test('for any object, the model’s span alone changes', () => {
    const members = fc.dictionary(
      fc.string().filter((key) => key !== 'model' && key !== '__proto__'),
      fc.jsonValue(),
    )
    fc.assert(
      fc.property(members, fc.string(), fc.string({ minLength: 1 }), fc.nat(), fc.nat(4), (rest, from, to, at, gap) => {
        const entries = Object.entries<unknown>(rest)
        entries.splice(at % (entries.length + 1), 0, ['model', from])
        const space = ' '.repeat(gap)
        const text = `{${entries.map(([key, value]) => `${space}${JSON.stringify(key)}${space}:${JSON.stringify(value)}`).join(',')}}`
        const { model } = read(text, { chunk: 1 + (at % 9) })
        const whole = Buffer.from(text)
        const out = Buffer.concat(
          applySplices([whole.subarray(0, gap), whole.subarray(gap)], [{ ...model, text: JSON.stringify(to) }]),
        )
        expect(out.subarray(0, model.start)).toEqual(whole.subarray(0, model.start))
        expect(out.subarray(out.length - (whole.length - model.end))).toEqual(whole.subarray(model.end))
        expect(JSON.parse(out.toString())).toEqual({ ...(JSON.parse(text) as object), model: to })
      }),
    )
  })

  test('for any list, stripping keeps the others as they are', () => {
    const item = fc.constantFrom(
      '{"type":"reasoning","x":[1]}',
      '{"type":"message","content":"{\\"type\\":\\"reasoning\\"}"}',
      '{"x":1,"type":"compaction"}',
      '{"id":"1","type":"item_reference"}',
      '{"type":"function_call_output","output":{"type":"reasoning"}}',
    )
    fc.assert(
      fc.property(fc.array(item), fc.constantFrom(',', ' ,\n'), (items, comma) => {
        const text = `{"model":"model-a","input":[${items.join(comma)}],"previous_response_id":"r"}`
        const dropped = /^\{(?:"type":"(?:reasoning|item_reference)|"x":1|"id")/
        const out = edit(text, STRIP)
        expect(JSON.parse(out)).toEqual({
          model: 'model-a',
          input: items.filter((entry) => !dropped.test(entry)).map((entry) => JSON.parse(entry) as unknown),
        })
        const kept = items.filter((entry) => !dropped.test(entry))
        expect(kept.filter((entry) => !out.includes(entry))).toEqual([])
      }),
    )
  })
})

describe('the binding', () => {
  test('moves the client model to the upstream model, `[1m]` not compared', () => {
    const binding = { clientModel: 'a', upstreamModel: 'b' }
    expect(edit('{"model":"a"}', binding)).toBe('{"model":"b"}')
    expect(edit('{"model":"a[1m]"}', binding)).toBe('{"model":"b"}')
    expect(edit('{"model":"a[1m]"}', { clientModel: 'a[1m]', upstreamModel: 'a' })).toBe('{"model":"a"}')
  })

  test('PR-A46 normalises any other model and says so', () => {
    const binding = aBinding('id')
    const edits = planEdits(binding, read('{"model":"side"}'), () => true)
    expect(edits).toMatchObject({ modelSent: 'model-a', flags: ['model_normalised'] })
  })

  test('lets the small model and enabled claude models of preset anthropic pass on messages', () => {
    const binding = { routeProtocol: 'anthropic_messages', smallModel: 'small' } as const
    expect(edit('{"model":"small"}', binding)).toBe('{"model":"small"}')
    expect(edit('{"model":"claude-x"}', { ...binding, preset: 'anthropic' }, true)).toBe('{"model":"claude-x"}')
    expect(edit('{"model":"claude-x"}', binding, true)).toBe('{"model":"model-a"}')
  })

  test.each([
    [
      '{"model":"model-a","reasoning":{"effort":"low","summary":"auto"}}',
      '"reasoning":{"effort":"high","summary":"auto"}',
    ],
    ['{"model":"model-a","reasoning":{ "summary":"auto"}}', '"reasoning":{"effort":"high", "summary":"auto"}'],
    ['{"model":"model-a","reasoning":{}}', '"reasoning":{"effort":"high"}'],
    ['{"model":"model-a","reasoning":null}', '"reasoning":{"effort":"high"}'],
    ['{"model":"model-a"}', '{"reasoning":{"effort":"high"},"model":"model-a"}'],
  ])('writes its effort into %s', (text, part) => {
    const out = edit(text, { effort: 'high' })
    expect(out).toContain(part)
    expect(JSON.parse(out)).toMatchObject({ reasoning: { effort: 'high' } })
  })

  test('without an effort keeps what the contract admits, else takes its default', () => {
    const text = '{"model":"model-a","reasoning":{"effort":"xhigh"}}'
    expect(edit(text, {})).toBe(text)
    expect(edit(text, { efforts: ['low', 'xhigh'], effortDefault: 'low' })).toBe(text)
    expect(edit(text, { efforts: ['low'], effortDefault: 'low' })).toContain('"effort":"low"')
  })

  test('drops thinking blocks, and a message that holds nothing else', () => {
    const text =
      '{"model":"model-a","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]},' +
      '{"role":"assistant","content":[{"type":"redacted_thinking"},{"type":"text","text":"t"}]},{"role":"user","content":"u"}]}'
    expect(edit(text, { ...STRIP, routeProtocol: 'anthropic_messages' })).toBe(
      '{"model":"model-a","messages":[{"role":"assistant","content":[{"type":"text","text":"t"}]},{"role":"user","content":"u"}]}',
    )
  })

  test('drops any number of thinking blocks of one message', () => {
    const message = (blocks: string): string =>
      `{"model":"model-a","messages":[{"role":"assistant","content":[${blocks}{"type":"text","text":"t"}]}]}`
    const text = message('{"type":"thinking"},'.repeat(150_000))
    const binding = { ...STRIP, routeProtocol: 'anthropic_messages' } as const
    const { cuts } = read(text, { protocol: 'anthropic_messages', strip: true, chunk: 65_536 })
    expect(cuts).toHaveLength(150_000)
    expect(edit(message('{"type":"text"},{"type":"thinking"},'.repeat(2)), binding)).toBe(
      message('{"type":"text"},'.repeat(2)),
    )
  })

  test('refuses an item whose type is said twice', () => {
    const text = '{"model":"m","input":[{"type":"message","type":"reasoning"}]}'
    expect(() => read(text, { strip: true })).toThrowError(
      expect.objectContaining({ code: 'route_binding_incompatible' }),
    )
  })

  test.each([
    ['{"model":"a","model":"b"}'],
    ['{"mod\\u0065l":"a","model":"b"}'],
    ['{"x":1}'],
    ['{"model":1}'],
    ['{"model":{"a":1}}'],
    ['[{"model":"a"}]'],
    ['"model"'],
    ['{"model":"a","reasoning":{"effort":"low","effort":"high"}}'],
    ['{"model":"a"} {}'],
  ])('PR-A45 %s is malformed', (text) => {
    expect(() => read(text)).toThrowError(expect.objectContaining({ code: 'request_body_malformed' }))
  })
})
