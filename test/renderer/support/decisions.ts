import type { DecisionView } from '../../../src/shared/bridge/index.ts'

export const DECISION_ID = '0198c0de-0000-7000-8000-000000000001'
export const SESSION_ID = '0198c0de-0000-7000-8000-0000000000aa'

/** A pending question of an agent: it wants to run the tests. */
export function aDecision(change: Partial<DecisionView> = {}): DecisionView {
  return {
    decisionId: DECISION_ID,
    kind: 'approval',
    toolCallId: 'call-1',
    tool: 'shell',
    toolKind: 'execute',
    title: 'Run npm test',
    action: { kind: 'command', command: 'npm test', cwd: '/home/me/api', wrapper: '/bin/bash -lc' },
    complete: true,
    risk: 'medium',
    riskReason: 'Runs code of the project.',
    options: ['allow_once', 'allow_session', 'allow_project', 'reject_once', 'reject_session'],
    paths: [],
    createdAt: Date.now() - 280_000,
    expiresAt: Date.now() + 23 * 3_600_000,
    status: 'pending',
    answer: null,
    by: null,
    settledAt: null,
    told: null,
    sessionId: SESSION_ID,
    runId: '0198c0de-0000-7000-8000-0000000000bb',
    sessionTitle: 'Fix the flaky test',
    agentId: 'codex',
    workDir: '/home/me/api',
    refusalReason: 'steer',
    ...change,
  }
}

export const numbered = (index: number): string => `0198c0de-0000-7000-8000-${String(index).padStart(12, '0')}`
