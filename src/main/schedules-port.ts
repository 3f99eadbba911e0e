import { AppError } from '../shared/errors.ts'
import type { SessionRuntimes } from './executor/index.ts'
import type { Runtime } from './runtime/index.ts'
import type { FiringPort } from './schedules/index.ts'

/** What starts a schedule's run: a session of its own, bound to it, under the policy of runs that nobody watches. */
export function createFiringPort(runtime: Runtime, runtimes: SessionRuntimes): FiringPort {
  const source = 'cron' as const
  const boundTo = (externalKey: string): string | null =>
    runtime.sessions.byExternalKey({ source, externalKey })?.sessionId ?? null
  return {
    sessionOf(externalKey) {
      const sessionId = boundTo(externalKey)
      const session = sessionId === null ? null : runtime.sessions.get(sessionId)
      return session === null || session.archivedAt !== null ? null : session
    },
    async unbind(externalKey) {
      const sessionId = boundTo(externalKey)
      if (sessionId !== null) await runtime.sessions.unbind(sessionId)
    },
    createSession({ agentId, workDir, mode, choice, title, externalKey }) {
      const binding = { source, externalKey, label: title }
      const initial = choice ?? runtimes.initial(agentId)
      return runtime.sessions.create({ agentId, workDir, mode, title, createdVia: source, choice: initial, binding })
    },
    async choose(sessionId, choice, signal) {
      const session = runtime.sessions.get(sessionId)
      if (JSON.stringify(session.choice) === JSON.stringify(choice)) return
      const by = { via: 'policy' as const, connection: null }
      const request = { sessionId, choice, allowHistoryStrip: false, expectedRev: session.rev, by }
      const { effect } = await runtimes.set(request, signal)
      if (effect.kind === 'refused') {
        throw new AppError(effect.code, 'The session of this schedule cannot run on what the schedule asks for.')
      }
    },
    submit: ({ mode, ...request }, signal) => runtime.runs.submit({ ...request, source, requestedMode: mode }, signal),
    lookup: ({ mode, ...request }) => runtime.runs.lookup({ ...request, source, requestedMode: mode })?.runId ?? null,
  }
}
