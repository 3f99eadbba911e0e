import type { DecisionView } from '../../../shared/bridge/index.ts'
import type { DecisionItem } from '../../../shared/projection/index.ts'
import type { Actor, DecisionAction } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'

/** A decision as the card shows it: the transcript's word, or the topic's where that knows more. */
export interface CardDecision extends DecisionItem {
  /** The session's folder; null: not known. */
  workDir: string | null
  /** Null where only the transcript is known. */
  context: Pick<DecisionView, 'sessionId' | 'sessionTitle' | 'agentId' | 'refusalReason'> | null
}

/** Puts the transcript's item and the topic's view together: what is settled in either is settled. */
export function mergeDecision(
  item: DecisionItem | DecisionView,
  live: DecisionView | undefined,
  folder: string | null = null,
): CardDecision {
  const view = 'sessionTitle' in item ? item : live
  const context = view ?? null
  const workDir = view?.workDir ?? folder
  if (live === undefined) return { ...item, context, workDir }
  const newest = item.status === 'pending' ? live : item
  return { ...newest, told: newest.told ?? live.told, context, workDir }
}

/** Below this many bytes the host shortens no action. */
const SHORTENED_BYTES = 4_096

/** True where the action on the card may hold less than the whole: the host marks what it left out by `…`. */
export function mayBeShortened(action: DecisionAction): boolean {
  if (action.kind === 'question') return false
  const text = JSON.stringify(action)
  return text.length > SHORTENED_BYTES && text.includes('…')
}

/** Who answered, as this window would say it. `generation`: this window's own connection. */
export function actorName(by: Actor, generation: string | null): string {
  return by.connection !== null && by.connection === generation
    ? strings.approvals.thisWindow
    : strings.approvals.actor(by.via)
}
