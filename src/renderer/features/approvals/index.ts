/** What waits for a person: one card per question of an agent, in its session and in one list over all of them. */
export { ActionView } from './ActionView.tsx'
export { ApprovalCard } from './ApprovalCard.tsx'
export type { ApprovalCardProps } from './ApprovalCard.tsx'
export { ApprovalsView } from './ApprovalsView.tsx'
export { pendingCards } from './useCardKeys.ts'
export { RiskMark } from './RiskMark.tsx'
export { Settled } from './Settled.tsx'
