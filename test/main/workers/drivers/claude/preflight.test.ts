/** What Claude Code's checks make of what its program says. How a probe is bounded and ended is the supervisor's. */
import { expect, test } from 'vitest'
import { claudePreflight } from '../../../../../src/main/workers/drivers/claude/preflight.ts'
import type { DriverDeps, ProbeRequest } from '../../../../../src/main/workers/drivers/shared/types.ts'
import type { ProbeResult, RoutePlan } from '../../../../../src/main/workers/index.ts'
import { createFakeIds } from '../../../../support/ids.ts'

const OK: ProbeResult = { stdout: '', stderr: '', exit: 0, notFound: false, timedOut: false, error: null }
const ROUTE: RoutePlan = { argv: ['--model', 'm'], config: {}, envSet: {}, envUnset: [] }
const status = (loggedIn: boolean): Partial<ProbeResult> => ({
  stdout: JSON.stringify({ loggedIn, authMethod: 'none' }),
  exit: loggedIn ? 0 : 1,
})

interface Program {
  path?: string | null
  version?: Partial<ProbeResult>
  opened?: Partial<ProbeResult>
  resumed?: Partial<ProbeResult>
  login?: Partial<ProbeResult>
}

async function preflight(program: Program, env: Record<string, string> = {}, route: RoutePlan | null = null) {
  const probes: ProbeRequest[] = []
  const answer = ({ args }: ProbeRequest): Partial<ProbeResult> | undefined => {
    if (args[0] === '--version') return program.version ?? { stdout: '2.1.197 (Claude Code)' }
    if (args[0] === 'auth') return program.login ?? status(true)
    return args.includes('--resume') ? program.resumed : program.opened
  }
  const deps = {
    ids: createFakeIds(),
    findProgram: () => Promise.resolve(program.path === undefined ? '/bin/claude' : program.path),
    probe(request: ProbeRequest) {
      probes.push(request)
      return Promise.resolve({ ...OK, ...answer(request) })
    },
  } as unknown as DriverDeps
  const request = { env: { PATH: '/bin', ...env }, route, privateDir: '/private' }
  const found = await claudePreflight(deps, request, {}, new AbortController().signal)
  return { found, probes }
}

test('WK-57 WK-79 all that a session needs is looked at, in this order, and nothing more', async () => {
  const { found, probes } = await preflight({ version: { stdout: '2.1.197 (1.0.0 of the SDK)\n3.0.0' } })
  expect(found).toMatchObject({ product: 'Claude Code', path: '/bin/claude', version: '2.1.197', failed: null })
  expect(found.checks.map(({ name, status }) => [name, status])).toEqual([
    ['starts', 'pass'],
    ['flags', 'pass'],
    ['login', 'pass'],
  ])
  const [version, opened, resumed, login] = probes.map(({ args }) => args)
  expect([version, login]).toEqual([['--version'], ['auth', 'status', '--json']])
  expect(opened).toEqual(
    expect.arrayContaining(['-p', '--permission-prompt-tool', '--session-id', '--strict-mcp-config']),
  )
  expect(resumed).toContain('--resume')
  // Nothing of the project's or the person's servers runs for a check, and no address is known.
  expect(probes.every(({ cwd }) => cwd === '/private')).toBe(true)
  expect(probes.slice(1, 3).map(({ env }) => env['ANTHROPIC_BASE_URL'])).toEqual(Array(2).fill('http://127.0.0.1:9'))
})

test.each([
  ['is not there', { path: null }, 'Claude Code was not found.', 'npm install -g @anthropic-ai/claude-code', 0],
  [
    'lacks what runs it',
    { version: { exit: 127, notFound: true } },
    'cannot find a program that it needs',
    'Install it',
    1,
  ],
  ['cannot be started', { version: { exit: null, error: 'EACCES' } }, 'cannot be started', 'Install it', 1],
  ['hangs', { version: { exit: null, timedOut: true } }, 'does not answer', 'Install it', 1],
  ['is a stub of npm', { version: { exit: 1, stderr: 'no native binary' } }, 'no native binary', '--ignore-scripts', 1],
] as const)('WK-57 WK-79 one that %s fails, says what to do, and is asked nothing more', async (...one) => {
  const [, program, message, hint, asked] = one
  const { found, probes } = await preflight(program)
  expect(found.failed).toMatchObject({ name: 'starts', message: expect.stringContaining(message) })
  expect(found.failed?.hint).toContain(hint)
  expect(probes).toHaveLength(asked)
})

test('WK-57 one that says no version is used all the same', async () => {
  const { found } = await preflight({ version: { stdout: 'Claude Code' } })
  expect(found).toMatchObject({ version: null, failed: null })
  expect(found.checks[0]).toMatchObject({ name: 'starts', status: 'warn' })
})

const UNKNOWN = { exit: 1, stderr: "error: unknown option '--replay-user-messages'" }
test.each([
  ['does not know a flag of a new session', { opened: UNKNOWN }, 'fail', '--replay-user-messages'],
  ['does not know a flag of a resumed one', { resumed: UNKNOWN }, 'fail', 'too old'],
  ['does not end when it is given nothing', { opened: { exit: null, timedOut: true } }, 'fail', 'does not end'],
  ['begins no session', { opened: { exit: 3, stderr: 'a banner\nsome reason' } }, 'warn', 'some reason'],
  [
    'has no session of that id to resume',
    { resumed: { exit: 1, stderr: 'No conversation found' } },
    'pass',
    'takes what',
  ],
] as const)('WK-58 one that %s', async (...one) => {
  const [, program, expected, message] = one
  const { found } = await preflight(program)
  expect(found.checks[1]).toMatchObject({ name: 'flags', status: expected, message: expect.stringContaining(message) })
  expect(found.checks).toHaveLength(3)
})

test.each([
  ['logged in', status(true), null, 'pass'],
  ['logged out', status(false), null, 'fail'],
  ['of unreadable words', { stdout: 'Not logged in' }, null, 'warn'],
  ['logged out, with a connection', status(false), ROUTE, 'pass'],
] as const)('WK-59 one %s', async (...one) => {
  const [, login, route, expected] = one
  const { found, probes } = await preflight({ login }, {}, route)
  expect(found.checks[2]).toMatchObject({ name: 'login', status: expected })
  expect(probes.some(({ args }) => args[0] === 'auth')).toBe(route === null)
})

test('WK-79 a key in the environment is kept from a question that would call out with it', async () => {
  const key = { ANTHROPIC_API_KEY: 'sk-of-the-shell' }
  const keysSeen = async (env: Record<string, string>): Promise<boolean> =>
    (await preflight({}, env)).probes
      .filter(({ args }) => args[0] === 'auth')
      .every(({ env }) => 'ANTHROPIC_API_KEY' in env)
  expect(await keysSeen(key)).toBe(false)
  expect(await keysSeen({ ...key, ANTHROPIC_BASE_URL: 'https://api.example.com' })).toBe(false)
  expect(await keysSeen({ ...key, ANTHROPIC_BASE_URL: 'http://127.0.0.1.example.com' })).toBe(false)
  expect(await keysSeen({ ...key, ANTHROPIC_BASE_URL: 'http://127.0.0.1:8080' })).toBe(true)
})
