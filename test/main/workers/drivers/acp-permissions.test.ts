import { describe, expect, test } from 'vitest'
import type { InteractionPort } from '../../../../src/main/workers/index.ts'
import { allow, createHarness, failure, prompt, until } from '../harness.ts'
import type { Harness, HarnessOptions } from '../harness.ts'
import { acpFixture } from './acp-fixture.ts'

const harness = (options: HarnessOptions): Harness => createHarness(acpFixture, options)
const allowing = (): Promise<typeof allow> => Promise.resolve(allow)

function answers(h: Harness): unknown[] {
  return h
    .report()
    .wire.flatMap((line) => (acpFixture.isAnswer(line) ? [{ id: line['id'], ...Object(line['result']) }] : []))
}

async function askedWith(options: unknown, more: Partial<HarnessOptions> = {}): Promise<Harness> {
  const h = harness({ scenario: 'ask-options', env: { FAKE_OPTIONS: JSON.stringify(options) }, ...more })
  const session = await h.open()
  await session.prompt(prompt('hello'))
  return h
}

/** What the policy sees of a call in this form. */
async function requestFor(call: unknown): Promise<Harness> {
  const h = harness({ scenario: 'ask-call', env: { FAKE_CALL: JSON.stringify(call) } })
  const session = await h.open()
  await session.prompt(prompt('hello'))
  return h
}

describe('permissions of an ACP agent', () => {
  const swapped = [
    { optionId: 'allow', name: 'Allow', kind: 'reject_once' },
    { optionId: 'x', name: 'Reject', kind: 'allow_once' },
  ]

  test('WK-42 the kind of an option selects it, never its id or label', async () => {
    await using allowed = await askedWith(swapped, { decide: allowing })
    expect(answers(allowed)).toEqual([{ id: 0, outcome: { outcome: 'selected', optionId: 'x' } }])
    await using refused = await askedWith(swapped)
    expect(answers(refused)).toEqual([{ id: 0, outcome: { outcome: 'selected', optionId: 'allow' } }])
  })

  test('WK-43 an allow that could only be for always is a refusal', async () => {
    const options = [
      { optionId: 'a', name: 'Always', kind: 'allow_always' },
      { optionId: 'r', name: 'Reject', kind: 'reject_once' },
    ]
    await using h = await askedWith(options, { decide: allowing })
    expect(answers(h)).toEqual([{ id: 0, outcome: { outcome: 'selected', optionId: 'r' } }])
    expect(h.refusals).toHaveLength(1)
  })

  test('WK-43 two options with one id select nothing', async () => {
    const options = [
      { optionId: 'a', name: 'Allow', kind: 'allow_once' },
      { optionId: 'a', name: 'Reject', kind: 'reject_once' },
    ]
    await using h = await askedWith(options, { decide: allowing })
    expect(answers(h)).toEqual([{ id: 0, outcome: { outcome: 'cancelled' } }])
    expect(h.requests).toEqual([])
    expect(h.refusals).toHaveLength(1)
  })

  test('WK-44 a name that is not in the trusted form is no MCP tool of an allowed server', async () => {
    const rules = { allowMcpServers: ['wheelhouse'] }
    const scenario = 'ask-call'
    const named = (name: string): Harness =>
      harness({ scenario, rules, env: { FAKE_CALL: JSON.stringify({ name, kind: 'other' }) } })
    await using forged = named('mcp__wheel house__x')
    await (await forged.open()).prompt(prompt('hello'))
    expect(forged.requests).toMatchObject([{ tool: '' }])
    await using real = named('mcp__wheelhouse__x')
    await (await real.open()).prompt(prompt('hello'))
    expect(real.requests).toEqual([])
    expect(answers(real)).toEqual([{ id: 0, outcome: { outcome: 'selected', optionId: 'allow' } }])
  })

  test('WK-45 unattended, nobody is asked', async () => {
    await using h = harness({ scenario: 'refuse-one', rules: { unattended: true } })
    const result = await (await h.open()).prompt(prompt('hello'))
    expect(h.requests).toEqual([])
    expect(result.refusals).toMatchObject([{ by: 'unattended' }])
  })

  test('WK-45 a decision that never comes expires', async () => {
    await using h = harness({
      scenario: 'refuse-one',
      decide: () => new Promise(() => undefined),
      change: (cfg) => ({ ...cfg, limits: { decisionMs: 200 } }),
    })
    const result = await (await h.open()).prompt(prompt('hello'))
    expect(result.refusals).toMatchObject([{ by: 'expired' }])
    expect(h.told).toMatchObject([[h.requests[0]?.requestId, 'sent']])
  })

  test('WK-48 an agent without modes can only be used to ask, and says so', async () => {
    await using h = harness({ scenario: 'no-modes' })
    expect((await h.open()).facts).toMatchObject({ mode: 'ask', modeVerified: false })
    await using other = harness({ scenario: 'no-modes', mode: 'anything' })
    expect(await failure(other.open())).toMatchObject({ code: 'unsafe_mode', started: 'ended' })
  })

  test('WK-48 modes of an unknown meaning are not guessed at', async () => {
    await using h = harness({ scenario: 'unmapped-modes' })
    expect(await failure(h.open())).toMatchObject({ code: 'mode_unmapped', started: 'ended' })
  })

  test('WK-48 one request too many at once is answered busy', async () => {
    await using h = harness({
      scenario: 'ask-many',
      env: { FAKE_COUNT: '65' },
      decide: () => new Promise(() => undefined),
      change: (cfg) => ({ ...cfg, limits: { handlers: 16 } }),
    })
    const session = await h.open()
    const turn = failure(session.prompt(prompt('hello')))
    await until('one is busy', () => h.report().wire.some((line) => JSON.stringify(line).includes('-32000')))
    expect(h.requests).toHaveLength(16)
    await session.close({ closeStdinMs: 0, termGraceMs: 0 })
    expect(await turn).toMatchObject({ code: 'session_ended' })
  })

  test('WK-67 request ids are answered once each, as they came', async () => {
    await using h = harness({ scenario: 'ask-ids', decide: allowing })
    await (await h.open()).prompt(prompt('hello'))
    expect(answers(h)).toHaveLength(3)
    expect(h.report().wire.flatMap((line) => (acpFixture.isAnswer(line) ? [line['id']] : []))).toEqual([0, -1, 'a'])
  })

  test('WK-67 null and an id that is still open are no ids', async () => {
    await using h = harness({ scenario: 'ask-null' })
    await (await h.open()).prompt(prompt('hello'))
    expect(h.requests).toHaveLength(1)
    expect(answers(h)).toHaveLength(1)
    const errors = h.report().wire.filter((line) => line['error'] !== undefined)
    expect(errors.map((line) => line['id'])).toEqual([null, 7])
  })

  test('WK-70 what the agent takes back is withdrawn', async () => {
    await using h = harness({ scenario: 'withdraw', decide: () => new Promise(() => undefined) })
    const session = await h.open()
    const turn = session.prompt(prompt('hello'))
    await until('it asks', () => h.requests.length === 1)
    h.openGate()
    expect((await turn).refusals).toMatchObject([{ by: 'withdrawn' }])
    expect(h.told).toEqual([[h.requests[0]?.requestId, 'withdrawn']])
  })

  test('WK-39 a question read after the end of the turn is refused', async () => {
    await using h = harness({ scenario: 'ask-late', decide: allowing })
    const session = await h.open()
    await session.prompt(prompt('hello'))
    await until('it is answered', () => answers(h).length === 1)
    expect(h.requests).toEqual([])
    expect(h.refusals).toMatchObject([{ by: 'bounds' }])
  })

  test('a command is shown as it will run', async () => {
    const command = 'printf "%s" "$HOME" && rm -rf build'
    await using h = await requestFor({ kind: 'execute', name: 'bash', rawInput: { command } })
    const action = { kind: 'command', command, cwd: h.cfg.cwd, wrapper: null }
    expect(h.requests).toMatchObject([{ tool: 'bash', kind: 'execute', action, complete: true }])
  })

  test('a command without its text is not complete', async () => {
    await using h = await requestFor({ kind: 'execute', title: 'Terminal', rawInput: {} })
    expect(h.requests).toMatchObject([{ action: { kind: 'other' }, complete: false }])
  })

  test('an edit is shown by its diffs, whole', async () => {
    const diff = { type: 'diff', path: '/project/a.txt', oldText: 'one someone@example.org', newText: 'two' }
    await using h = await requestFor({ kind: 'edit', content: [diff], locations: [{ path: '/project/a.txt' }] })
    const changes = [{ path: '/project/a.txt', oldText: 'one someone@example.org', newText: 'two' }]
    expect(h.requests).toMatchObject([
      { kind: 'edit', locations: ['/project/a.txt'], action: { kind: 'edit', changes }, complete: true },
    ])
  })

  test('an action that the agent spells out is taken as it is', async () => {
    const action = { kind: 'command', command: 'ls', cwd: '/somewhere', wrapper: null }
    await using h = await requestFor({ kind: 'execute', _meta: { wheelhouse: { action } } })
    expect(h.requests).toMatchObject([{ action, complete: true }])
  })
})

describe('what an ACP agent asks in words', () => {
  const FORM = {
    mode: 'form',
    message: 'Which?',
    requestedSchema: { properties: { c: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] } }, required: ['c'] },
  }
  const said = (h: Harness): string => h.content.map((item) => (item.kind === 'text' ? item.text : '')).join('')

  function asked(form: unknown, ask: InteractionPort['ask'] | null, env: Record<string, string> = {}): Harness {
    return harness({
      scenario: 'elicit',
      env: { FAKE_FORM: JSON.stringify(form), ...env },
      change: (cfg) => (ask === null ? cfg : { ...cfg, interactions: { ask } }),
    })
  }

  test('WK-71 a form is put to whoever takes it, and answered once', async () => {
    const bodies: unknown[] = []
    await using h = asked(FORM, (request) => {
      bodies.push(request.body)
      return Promise.resolve({ kind: 'answered', body: { c: 'Red' } })
    })
    await (await h.open()).prompt(prompt('hello'))
    expect(bodies).toMatchObject([{ text: 'Which?', fields: [{ id: 'c', kind: 'choice', required: true }] }])
    expect(said(h)).toBe('{"action":"accept","content":{"c":"r"}}')
    expect(h.report().wire[0]).toMatchObject({ params: { clientCapabilities: { elicitation: { form: {} } } } })
  })

  test('WK-71 a link is declined; with nobody who takes forms none is offered', async () => {
    await using link = asked({ ...FORM, mode: 'url', url: 'https://example.org' }, () =>
      Promise.reject(new Error('asked')),
    )
    await (await link.open()).prompt(prompt('hello'))
    expect(said(link)).toBe('{"action":"decline"}')
    await using nobody = asked(FORM, null)
    await (await nobody.open()).prompt(prompt('hello'))
    expect(JSON.stringify(nobody.report().wire[0])).not.toContain('elicitation')
    expect(JSON.stringify(nobody.report().wire)).toContain('-32601')
  })

  test('WK-16 a cancel ends it', async () => {
    let aborted = false
    const started = Promise.withResolvers<null>()
    const ask: InteractionPort['ask'] = (_request, signal) => {
      started.resolve(null)
      signal.addEventListener('abort', () => (aborted = true))
      return new Promise(() => undefined)
    }
    await using h = asked(FORM, ask, { FAKE_WAIT: '1' })
    const session = await h.open()
    const turn = session.prompt(prompt('hello'))
    await started.promise
    await session.cancel()
    expect((await turn).stop).toBe('cancelled')
    expect(aborted).toBe(true)
    // The agent may say so after it has ended its turn.
    await until('the agent was told', () => said(h) === '{"action":"decline"}')
  })
})
