/** What a run has done so far, as far as it matters for running it again. */
import type { SideEffects, ToolKind } from '../../../shared/vocabulary.ts'
import type { RunFacts } from '../store/runs.ts'
import type { ExecutionUpdate } from '../types.ts'

const RANK: Readonly<Record<SideEffects, number>> = { none: 0, read_only: 1, unknown: 2, mutating: 3 }

const EFFECT: Readonly<Record<ToolKind, SideEffects>> = {
  read: 'read_only',
  search: 'read_only',
  think: 'none',
  edit: 'mutating',
  move: 'mutating',
  delete: 'mutating',
  execute: 'unknown',
  fetch: 'unknown',
  switch_mode: 'none',
  other: 'unknown',
}

export const NO_FACTS: RunFacts = { sideEffects: 'none', partialOutput: false }

export function worse(a: SideEffects, b: SideEffects): SideEffects {
  return RANK[a] >= RANK[b] ? a : b
}

/** The facts after one more update. A call that still waits, or was declined, has done nothing. */
export function factsAfter(facts: RunFacts, update: ExecutionUpdate): RunFacts {
  switch (update.kind) {
    case 'output':
    case 'thought':
      return facts.partialOutput || update.text.trim() === '' ? facts : { ...facts, partialOutput: true }
    case 'tool': {
      if (update.status === 'pending' || update.status === 'declined') return facts
      const effect = update.interrupted === true ? 'unknown' : effectOf(update)
      const sideEffects = worse(facts.sideEffects, effect)
      return sideEffects === facts.sideEffects ? facts : { ...facts, sideEffects }
    }
    case 'artifact': {
      // Publishing is the read it is.
      const sideEffects = worse(facts.sideEffects, 'read_only')
      return sideEffects === facts.sideEffects ? facts : { ...facts, sideEffects }
    }
    default:
      return facts
  }
}

function effectOf(update: Extract<ExecutionUpdate, { kind: 'tool' }>): SideEffects {
  return update.readOnly === true ? 'read_only' : EFFECT[update.tool]
}
