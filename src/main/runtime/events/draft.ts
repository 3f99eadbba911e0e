import type { Tx } from '../../platform/types.ts'
import type { EventDraft, PendingEvent } from '../store/events.ts'
import { fitData } from './cut.ts'

export type { EventDraft } from '../store/events.ts'

/** Writes events at the end of the log, inside a transaction. */
export type Emit = (...drafts: readonly EventDraft[]) => void

/** An event that waits for its group commit, and what is written with it. */
export interface Buffered {
  draft: EventDraft
  apply?: (tx: Tx) => void
}

/** The form in which an event is stored: secrets blanked, bounded, as JSON. */
export function toPending(draft: EventDraft, redact: (text: string) => string): PendingEvent {
  const fitted = fitData(draft.data)
  const text = redact(fitted.text)
  return {
    runId: draft.runId,
    type: draft.type,
    state: draft.state ?? null,
    data: text === fitted.text ? fitted.data : (JSON.parse(text) as Record<string, unknown>),
    text,
    dedupeKey: draft.dedupeKey ?? null,
  }
}
