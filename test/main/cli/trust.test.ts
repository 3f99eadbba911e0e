import { afterEach, expect, test, vi } from 'vitest'
import { trust, untrust } from '../../../src/main/cli/trust.ts'
import type { CliBridge } from '../../../src/main/cli/bridge.ts'
import { procedures } from '../../../src/shared/bridge/index.ts'
import type { ProcedureName } from '../../../src/shared/bridge/index.ts'

afterEach(() => vi.restoreAllMocks())

/** A command against answers that pass the contract: its exit code, what it printed, and what it asked. */
async function run(command: typeof trust, args: string[], answers: Readonly<Record<string, unknown>>) {
  const asked: [string, unknown][] = []
  const call = (name: ProcedureName, input: unknown): Promise<unknown> => {
    asked.push([name, procedures[name].input.parse(input)])
    return Promise.resolve(procedures[name].output.parse(answers[name]))
  }
  let printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  const cli = { bridge: { call }, shared: true } as unknown as CliBridge
  const code = await command(args)(cli, new AbortController().signal)
  vi.restoreAllMocks()
  return { code, printed, asked }
}

const answer = { folder: '/srv/api', trusted: true, rev: 1, answeredAt: 0 }
const effects = [{ what: 'hooks', names: ['Stop: ./x\u001b[31m'] }]
const finding = { path: '.claude/settings.json', agent: 'claude', kind: 'settings', effects, unread: null }

test('a folder is trusted by its whole path, and what that lets in is printed without its escapes', async () => {
  const inspected = { folder: '/srv/api', answer: null, findings: [finding], more: false }
  const { code, printed, asked } = await run(trust, ['api/../api'], {
    'trust.inspect': inspected,
    'trust.answer': answer,
  })
  expect(code).toBe(0)
  const folder = `${process.cwd()}/api`
  expect(asked).toEqual([
    ['trust.inspect', { folder }],
    ['trust.answer', { folder, trusted: true }],
  ])
  expect(printed).toContain('/srv/api is trusted.')
  expect(printed).toContain('.claude/settings.json\n    hooks: Stop: ./x')
  expect(printed).not.toContain('\u001b')
})

test('an answer is turned round, and all of them are listed', async () => {
  const no = { ...answer, trusted: false }
  expect(await run(untrust, ['/srv/api'], { 'trust.answer': no })).toMatchObject({
    code: 0,
    printed: '/srv/api is not trusted. Agents leave out what it brings with it.\n',
    asked: [['trust.answer', { folder: '/srv/api', trusted: false }]],
  })
  const { printed } = await run(trust, ['--list'], { 'trust.list': { folders: [answer, no] } })
  expect(printed).toBe('trusted      /srv/api\nnot trusted  /srv/api\n')
})

test('wrong usage is told', () => {
  for (const args of [[], ['a', 'b'], ['--list', 'a'], ['--sure', 'a']])
    expect(() => trust(args)).toThrow(/folder|option/i)
  expect(() => untrust([])).toThrow('Name one folder.')
})
