/** Whether an ACP agent can be started here, found out without a prompt and without a model call. */
import { withDeadline } from '../../../platform/index.ts'
import { AppError } from '../../../../shared/errors.ts'
import { LIMITS } from '../../limits.ts'
import type { AgentProfile, Preflight, PreflightCheck, PreflightRequest } from '../../types.ts'
import { AT_ONCE } from '../../worker.ts'
import { WorkerError } from '../../errors.ts'
import { parseJsonLine } from '../../text/line-reader.ts'
import { endedAtOnce, unreadableLines } from '../shared/probe-ends.ts'
import { createRpcPeer } from '../shared/rpc-peer.ts'
import type { DriverDeps } from '../shared/types.ts'
import { initialize } from './handshake.ts'

export async function preflightAcp(
  deps: DriverDeps,
  request: PreflightRequest,
  profile: AgentProfile,
  signal: AbortSignal,
): Promise<Preflight> {
  const { product } = profile
  const env = { ...request.env, ...request.route?.envSet }
  const path = await deps.findProgram(profile.command, env['PATH'])
  if (path === null) {
    const hint = `Install it, or check that \`${profile.command}\` runs in a terminal.`
    const check: PreflightCheck = { name: 'starts', status: 'fail', message: `${product} was not found.`, hint }
    return { product, path: null, version: null, checks: [check], failed: check }
  }
  const checks: PreflightCheck[] = []
  const redactor = deps.redactor({ secrets: [], env, dirs: [request.privateDir] })
  let version: string | null = null
  try {
    const worker = await deps.startProbe({ program: path, args: profile.args, env, cwd: request.privateDir }, signal)
    const ended = Promise.withResolvers<WorkerError>()
    try {
      const peer = createRpcPeer({
        worker,
        conversation: {
          limits: LIMITS,
          ended: ended.promise,
          invalidLine: unreadableLines(product, LIMITS, ended.resolve),
          fail: ended.resolve,
        },
        versioned: true,
        handlers: {
          notification: () => undefined,
          request: (id) => void peer.respondError(id, -32_601, 'Method not found').catch(() => undefined),
        },
      })
      worker.lines(
        (line) => peer.read(parseJsonLine(line), line.length),
        () => ended.resolve(endedAtOnce(product, worker.stderrTail())),
      )
      checks.push({ name: 'starts', status: 'pass', message: `${product} starts.` })
      const answer = await withDeadline(deps.clock, LIMITS.probeMs, signal, (inner) =>
        initialize(peer, profile, redactor.line, inner),
      )
      version = answer.agentInfo?.version === undefined ? null : redactor.line(answer.agentInfo.version)
      checks.push({ name: 'handshake', status: 'pass', message: `${product} answers.` })
    } finally {
      await worker.release(AT_ONCE)
    }
  } catch (error) {
    if (signal.aborted) throw new WorkerError('aborted', 'The check was given up.')
    const known = redactor.error(error)
    const timedOut = error instanceof AppError && error.code === 'deadline_exceeded'
    const name = checks.length === 0 || known.code === 'agent_exited_early' ? 'starts' : 'handshake'
    if (name === 'starts') checks.length = 0
    checks.push({
      name,
      status: 'fail',
      message: timedOut ? `${product} does not answer.` : known.message,
      hint: `Run \`${profile.command}\` in a terminal to see what it says.`,
    })
  }
  return { product, path, version, checks, failed: checks.find(({ status }) => status === 'fail') ?? null }
}
