import type { SessionView, Snapshot } from '../../../src/shared/bridge/index.ts'
import { emptyRun } from '../../../src/shared/projection/index.ts'
import type { RunView } from '../../../src/shared/projection/index.ts'
import type { ErrorInfo } from '../../../src/shared/events.ts'
import { numbered, SESSION_ID } from './decisions.ts'

export const RUN_ID = numbered(7_001)

export function aSession(change: Partial<SessionView> = {}): SessionView {
  return {
    id: SESSION_ID,
    title: 'Fix the flaky test',
    agentId: 'builtin',
    workDir: '/home/me/api',
    extraDirs: [],
    mode: 'agent',
    choice: { connectionId: 'c1', modelId: 'rehearsal-1', effort: 'default' },
    choiceLabel: 'Rehearsal · rehearsal-1',
    rehearsal: true,
    configRev: 1,
    state: 'idle',
    activeRun: null,
    lastRun: null,
    pendingDecisions: 0,
    headSeq: 0,
    createdAt: 1_000,
    updatedAt: Date.now() - 60_000,
    archivedAt: null,
    ...change,
  }
}

export function running(change: Partial<SessionView> = {}): SessionView {
  return aSession({
    state: 'running',
    activeRun: { runId: RUN_ID, state: 'running', startedAt: 2_000, createdAt: 1_000 },
    ...change,
  })
}

export function aRun(change: Partial<RunView> = {}): RunView {
  return {
    ...emptyRun(RUN_ID),
    prompt: 'Fix it',
    state: 'completed',
    createdAt: 1_000,
    startedAt: 2_000,
    finishedAt: 5_000,
    firstSeq: 1,
    lastSeq: 1,
    ...change,
  }
}

export function aRunError(change: Partial<ErrorInfo> = {}): ErrorInfo {
  return {
    code: 'provider_auth_failed',
    type: 'provider',
    failureClass: 'provider',
    phase: 'model',
    messageKey: 'provider_auth_failed',
    message: 'The Provider refused the key.',
    retryMode: 'user',
    retryable: false,
    sideEffectState: 'none',
    partialOutput: false,
    runId: RUN_ID,
    intentId: 'i',
    ...change,
  }
}

export function aSnapshot(session: SessionView, turns: RunView[] = []): Snapshot {
  return { session, turns, hasEarlier: false, headSeq: 1, floorSeq: 0, pending: [], draft: null }
}
