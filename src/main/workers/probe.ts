/** Programs run for a preflight: bounded in time and output, and their whole group gone afterwards. */
import type { Ids } from '../platform/types.ts'
import type { ProbeRequest } from './drivers/shared/types.ts'
import { WorkerError } from './errors.ts'
import { LIMITS, lowerLimits } from './limits.ts'
import { bareCommand } from './start.ts'
import type { ProbeResult, Redaction, Redactor, Worker } from './types.ts'
import { startWorker } from './worker.ts'
import type { WorkerDeps } from './worker.ts'

export interface ProbeDeps extends WorkerDeps {
  ids: Ids
  redactor(redaction: Redaction): Redactor
}

/** @throws WorkerError `worker_not_started`, `worker_unusable`, `aborted`. */
export async function startProbe(deps: ProbeDeps, request: ProbeRequest, signal: AbortSignal): Promise<Worker> {
  if (signal.aborted) throw new WorkerError('aborted', 'The check was given up.', { started: 'never' })
  const workerId = deps.ids.next()
  const { program, args, env, cwd } = request
  return startWorker(deps, {
    workerId,
    command: await bareCommand(workerId, { path: program, args, env, cwd }, []),
    key: null,
    privateDir: null,
    token: null,
    redactor: deps.redactor({ secrets: [], env, dirs: [] }),
    limits: lowerLimits({ lineBytes: LIMITS.probeBytes }),
    onStarted: () => Promise.resolve(),
    onReleasing: () => undefined,
    onReleased: () => undefined,
  })
}

/** Runs to its end on an empty stdin. A program that is not there is an answer. @throws WorkerError `aborted`. */
export async function runProbe(deps: ProbeDeps, request: ProbeRequest, signal: AbortSignal): Promise<ProbeResult> {
  let worker: Worker
  try {
    worker = await startProbe(deps, request, signal)
  } catch (error) {
    if (!(error instanceof WorkerError) || error.code === 'aborted') throw error
    const notFound = error.detail === request.program || error.detail === 'ENOENT'
    return { stdout: '', stderr: '', exit: null, notFound, timedOut: false, error: error.message }
  }
  const kept: string[] = []
  let bytes = 0
  worker.lines(
    (line) => {
      if (bytes >= LIMITS.probeBytes) return
      bytes += line.length + 1
      kept.push(Buffer.from(line).toString('utf8'))
    },
    () => undefined,
  )
  let left = false
  void worker.exited.then(() => (left = true))
  // Releasing ends stdin, and waits as long as the probe may take before anything is signalled.
  const released = worker.release({ closeStdinMs: LIMITS.probeMs, termGraceMs: LIMITS.confirmPollMs[1] })
  const cut = Promise.withResolvers<'aborted'>()
  const abort = (): void => cut.resolve('aborted')
  signal.addEventListener('abort', abort, { once: true })
  const how = await Promise.race([released, cut.promise])
  signal.removeEventListener('abort', abort)
  if (how === 'aborted') {
    // The release waits for its leader, and does the rest.
    await deps.table.signal(worker.process, 'SIGKILL')
    await released
    throw new WorkerError('aborted', 'The check was given up.')
  }
  const timedOut = how.kind === 'held' || how.strongest === 'term' || how.strongest === 'kill'
  const exit = left ? await worker.exited : null
  return {
    stdout: kept.join('\n').slice(0, LIMITS.probeBytes),
    stderr: worker.stderrLines().join('\n'),
    exit: exit?.code ?? null,
    notFound: exit?.code === 126 || exit?.code === 127,
    timedOut: timedOut && exit?.signal !== null,
    error: null,
  }
}
