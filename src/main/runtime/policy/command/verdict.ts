import type { Risk } from '../../../../shared/vocabulary.ts'

/** What one simple command comes to. */
export interface Verdict {
  risk: Risk
  reason: string
  runsProject: boolean
}

const RANK: Record<Risk, number> = { low: 0, medium: 1, high: 2 }

export const low = (reason: string): Verdict => ({ risk: 'low', reason, runsProject: false })
export const medium = (reason: string): Verdict => ({ risk: 'medium', reason, runsProject: false })
export const high = (reason: string): Verdict => ({ risk: 'high', reason, runsProject: false })
/** The project's own build or tests. */
export const runsProject = (reason: string): Verdict => ({ risk: 'low', reason, runsProject: true })

/** The higher of the two; of equals the first, whose reason then stands. */
export function worse(a: Verdict, b: Verdict): Verdict {
  const winner = RANK[b.risk] > RANK[a.risk] ? b : a
  const project = a.runsProject || b.runsProject
  return winner.runsProject === project ? winner : { ...winner, runsProject: project }
}

export function atLeastMedium(verdict: Verdict, reason: string): Verdict {
  return worse(medium(reason), verdict)
}
