/** Whether Claude Code can be started here and has a login: without a prompt, without a model call. */
import { z } from 'zod'
import type { Preflight, PreflightCheck, PreflightRequest, ProbeResult } from '../../types.ts'
import type { DriverDeps, ProbeRequest } from '../shared/types.ts'
import { claudeArgs } from './launch.ts'
import type { Opening } from './launch.ts'
import { PRODUCT } from './session.ts'

const PROGRAM = 'claude'
const VERSION = /\d+\.\d+[0-9A-Za-z.+-]*/
const PACKAGE = '@anthropic-ai/claude-code'
const INSTALL = `Install it with \`npm install -g ${PACKAGE}\`, and check that \`claude --version\` runs in a terminal.`
const REINSTALL = `Reinstall it with \`npm install -g ${PACKAGE}\` (without --ignore-scripts).`
const UPDATE = 'Update it with `claude update`.'
const LOGIN = 'Run `claude` in a terminal and log in with /login, or choose a Provider.'

/** With an address that nobody serves and no traffic of its own: what is looked at is this machine. */
const OFFLINE = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } as const

const ROUTED: PreflightCheck = { name: 'login', status: 'pass', message: 'A Provider is used.' }

const AuthStatus = z.object({ loggedIn: z.boolean() })

export async function claudePreflight(
  deps: DriverDeps,
  request: PreflightRequest,
  own: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Preflight> {
  const env = { ...request.env, ...own }
  const path = await deps.findProgram(PROGRAM, env['PATH'])
  const done = (checks: readonly PreflightCheck[], version: string | null): Preflight => ({
    product: PRODUCT,
    path,
    version,
    checks,
    failed: checks.find(({ status }) => status === 'fail') ?? null,
  })
  if (path === null) {
    return done([{ name: 'starts', status: 'fail', message: 'Claude Code was not found.', hint: INSTALL }], null)
  }
  const probe = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<ProbeResult> =>
    deps.probe(probeOf(path, args, { ...env, ...more }, request), signal)
  const ran = await probe(['--version'])
  const starts = startsCheck(ran)
  const version = VERSION.exec(ran.stdout.split('\n', 1)[0] ?? '')?.[0] ?? null
  if (starts.status === 'fail') return done([starts], version)
  const opened = await probe(argsFor({ kind: 'new', sessionId: deps.ids.next() }), OFFLINE)
  const resumed = await probe(argsFor({ kind: 'load', sessionId: deps.ids.next() }), OFFLINE)
  const login = request.route === null ? loginCheck(await probe(['auth', 'status', '--json'])) : ROUTED
  return done([starts, flagsCheck(opened, resumed), login], version)
}

function probeOf(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  { privateDir }: PreflightRequest,
): ProbeRequest {
  // With a key in its environment and no address, even the question for the login calls out.
  const { ANTHROPIC_API_KEY: key, ...rest } = env
  const local = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(`${env['ANTHROPIC_BASE_URL'] ?? ''}/`)
  return { program, args, env: local && key !== undefined ? env : rest, cwd: privateDir }
}

/** As a session is started, but with none of the person's servers: nothing of theirs runs for a check. */
function argsFor(opening: Opening): string[] {
  const rules = { mode: 'ask', allowKinds: [], allowMcpServers: [], unattended: false } as const
  const policy = {
    rules: () => rules,
    decide: () => Promise.resolve({ allow: false, by: 'policy', reason: null } as const),
    told: () => undefined,
  }
  return claudeArgs({ policy, mcp: 'exact', folderTrusted: false, addDirs: [], route: null }, opening, null)
}

function startsCheck(ran: ProbeResult): PreflightCheck {
  const fail = (message: string, hint: string): PreflightCheck => ({ name: 'starts', status: 'fail', message, hint })
  const last = ran.stderr.split('\n').at(-1) ?? ''
  if (ran.timedOut) return fail('Claude Code does not answer to `claude --version`.', INSTALL)
  if (ran.notFound) return fail('Claude Code is there, but cannot find a program that it needs.', INSTALL)
  if (ran.error !== null) return fail('Claude Code is there, but cannot be started.', INSTALL)
  if (ran.exit !== 0) return fail(`\`claude --version\` failed. ${last}`.trim(), REINSTALL)
  if (!VERSION.test(ran.stdout)) {
    return { name: 'starts', status: 'warn', message: 'Claude Code starts, but says no version.' }
  }
  return { name: 'starts', status: 'pass', message: 'Claude Code starts.' }
}

/** A session that begins has to begin; of one that is resumed only the flags count, for there is none of that id. */
function flagsCheck(opened: ProbeResult, resumed: ProbeResult): PreflightCheck {
  const unknown = [opened, resumed].map(unknownFlag).find((flag) => flag !== null)
  if (unknown !== undefined && unknown !== null) {
    const message = `Claude Code is too old: it does not know ${unknown}.`
    return { name: 'flags', status: 'fail', message, hint: UPDATE }
  }
  if (opened.timedOut) {
    return {
      name: 'flags',
      status: 'fail',
      message: 'Claude Code does not end when it is given nothing.',
      hint: UPDATE,
    }
  }
  if (opened.exit !== 0) {
    const last = opened.stderr.split('\n').at(-1) ?? ''
    return { name: 'flags', status: 'warn', message: `Claude Code did not begin a session. ${last}`.trim() }
  }
  return { name: 'flags', status: 'pass', message: 'Claude Code takes what a session needs.' }
}

function unknownFlag({ stderr }: ProbeResult): string | null {
  return /unknown option '(-[^']{1,60})'/.exec(stderr)?.[1] ?? null
}

/** "Has a login", never "works": no key is tried. */
function loginCheck(ran: ProbeResult): PreflightCheck {
  const status = readStatus(ran.stdout)
  if (status === null) {
    return { name: 'login', status: 'warn', message: 'Claude Code did not say whether it has a login.' }
  }
  if (status.loggedIn) return { name: 'login', status: 'pass', message: 'Claude Code has a login.' }
  return { name: 'login', status: 'fail', message: 'Claude Code is logged out.', hint: LOGIN }
}

function readStatus(stdout: string): z.infer<typeof AuthStatus> | null {
  try {
    const read = AuthStatus.safeParse(JSON.parse(stdout))
    return read.success ? read.data : null
  } catch {
    return null
  }
}
