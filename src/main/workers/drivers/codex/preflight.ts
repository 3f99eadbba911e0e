/** Whether Codex can be started here and has a login: without a prompt, without a thread, without a model call. */
import { z } from 'zod'
import { AppError } from '../../../../shared/errors.ts'
import { withDeadline } from '../../../platform/index.ts'
import { WorkerError } from '../../errors.ts'
import { LIMITS } from '../../limits.ts'
import type { Preflight, PreflightCheck, PreflightRequest, ProbeResult, Worker } from '../../types.ts'
import { AT_ONCE } from '../../worker.ts'
import { parseJsonLine } from '../../text/line-reader.ts'
import { endedAtOnce, unreadableLines } from '../shared/probe-ends.ts'
import { createRpcPeer } from '../shared/rpc-peer.ts'
import type { DriverDeps, RpcPeer } from '../shared/types.ts'
import { createCalls } from './calls.ts'
import { codexLaunch } from './launch.ts'
import { CLIENT_INFO, PRODUCT } from './session.ts'
import { AccountReply } from './wire.ts'

const PROGRAM = 'codex'
const VERSION = /\d+\.\d+[0-9A-Za-z.+-]*/
const INSTALL = 'Install it with `npm install -g @openai/codex`, and check that `codex --version` runs in a terminal.'
const REINSTALL = 'Reinstall it with `npm install -g @openai/codex` (without --ignore-scripts).'

export async function codexPreflight(
  deps: DriverDeps,
  request: PreflightRequest,
  own: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Preflight> {
  const env = { ...request.env, ...own, ...request.route?.envSet }
  const path = await deps.findProgram(PROGRAM, env['PATH'])
  const done = (checks: readonly PreflightCheck[], version: string | null): Preflight => ({
    product: PRODUCT,
    path,
    version,
    checks,
    failed: checks.find(({ status }) => status === 'fail') ?? null,
  })
  if (path === null) {
    return done([{ name: 'starts', status: 'fail', message: 'Codex was not found.', hint: INSTALL }], null)
  }
  const probe = { program: path, env, cwd: request.privateDir }
  const ran = await deps.probe({ ...probe, args: ['--version'] }, signal)
  const starts = startsCheck(ran)
  const version = VERSION.exec(ran.stdout.split('\n', 1)[0] ?? '')?.[0] ?? null
  if (starts.status === 'fail') return done([starts], version)
  const { args } = codexLaunch({ route: request.route, mcp: 'with_users_own' })
  return done([starts, ...(await handshakeChecks(deps, { ...probe, args }, request, signal))], version)
}

function startsCheck(ran: ProbeResult): PreflightCheck {
  const fail = (message: string, hint: string): PreflightCheck => ({ name: 'starts', status: 'fail', message, hint })
  const last = ran.stderr.split('\n').at(-1) ?? ''
  if (ran.timedOut) return fail('Codex does not answer to `codex --version`.', INSTALL)
  if (ran.notFound) return fail('Codex is there, but cannot find a program that it needs.', INSTALL)
  if (ran.error !== null) return fail('Codex is there, but cannot be started.', INSTALL)
  if (ran.exit !== 0) return fail(`\`codex --version\` failed. ${last}`.trim(), REINSTALL)
  if (!VERSION.test(ran.stdout))
    return { name: 'starts', status: 'warn', message: 'Codex starts, but says no version.' }
  return { name: 'starts', status: 'pass', message: 'Codex starts.' }
}

async function handshakeChecks(
  deps: DriverDeps,
  probe: Parameters<DriverDeps['startProbe']>[0],
  request: PreflightRequest,
  signal: AbortSignal,
): Promise<PreflightCheck[]> {
  const redactor = deps.redactor({ secrets: [], env: probe.env, dirs: [request.privateDir] })
  const checks: PreflightCheck[] = []
  let worker: Worker | null = null
  try {
    worker = await deps.startProbe(probe, signal)
    const calls = createCalls(probePeer(worker), deps.clock, redactor)
    const account = await withDeadline(deps.clock, LIMITS.probeMs, signal, async (inner) => {
      const client = { clientInfo: CLIENT_INFO, capabilities: { experimentalApi: true } }
      await calls.read('initialize', client, z.object({ userAgent: z.string() }), inner)
      checks.push({ name: 'handshake', status: 'pass', message: 'Codex answers.' })
      const reply = await calls.ask('account/read', { refreshToken: false }, inner)
      return reply.ok ? AccountReply.safeParse(reply.result) : null
    })
    checks.push(loginCheck(account?.success === true ? account.data : null, request.route !== null))
  } catch (error) {
    if (signal.aborted) throw new WorkerError('aborted', 'The check was given up.')
    const timedOut = error instanceof AppError && error.code === 'deadline_exceeded'
    const [name, status] = checks.length === 0 ? (['handshake', 'fail'] as const) : (['login', 'warn'] as const)
    checks.push({
      name,
      status,
      message: timedOut ? 'Codex does not answer.' : redactor.error(error).message,
      hint: 'Run `codex app-server` in a terminal to see what it says, or update Codex.',
    })
  } finally {
    await worker?.release(AT_ONCE)
  }
  return checks
}

/** "Has a login", never "works": no key is tried. */
function loginCheck(account: z.infer<typeof AccountReply> | null, routed: boolean): PreflightCheck {
  if (account === null) return { name: 'login', status: 'warn', message: 'Codex did not say whether it has a login.' }
  if (routed || account.account !== null || !account.requiresOpenaiAuth) {
    return { name: 'login', status: 'pass', message: routed ? 'A Provider is used.' : 'Codex has a login.' }
  }
  return {
    name: 'login',
    status: 'warn',
    message: 'Codex may be logged out.',
    hint: 'Run `codex login` in a terminal, or choose a Provider.',
  }
}

function probePeer(worker: Worker): RpcPeer {
  const ended = Promise.withResolvers<WorkerError>()
  const peer = createRpcPeer({
    worker,
    conversation: {
      limits: LIMITS,
      ended: ended.promise,
      invalidLine: unreadableLines(PRODUCT, LIMITS, ended.resolve),
      fail: ended.resolve,
    },
    versioned: false,
    handlers: {
      notification: () => undefined,
      request: (id) => void peer.respondError(id, -32_601, 'Not supported by this client').catch(() => undefined),
    },
  })
  worker.lines(
    (line) => peer.read(parseJsonLine(line), line.length),
    () => ended.resolve(endedAtOnce(PRODUCT, worker.stderrTail())),
  )
  return peer
}
