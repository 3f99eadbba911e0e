import { AppError } from '../../../shared/errors.ts'
import { Source } from '../../../shared/vocabulary.ts'
import type { ResolvedSource, SourceCandidates } from './types.ts'

/** Cron and channel own a policy and run without a person; the other four are entries to a person's session. */
export function isUnattended(source: Source): boolean {
  return source === 'cron' || source === 'channel'
}

/**
 * Whose policy a run is under: the first known of binding, header, current and requested. Owners that contradict each
 * other are never resolved in favour of one.
 * @throws AppError `source_invalid` (an unknown word), `source_unknown` (no candidate), `source_conflict` (`detail` lists
 *   every differing pair).
 */
export function resolveSource(candidates: SourceCandidates): ResolvedSource {
  const binding = parse('binding', candidates.binding)
  const header = parse('header', candidates.header)
  const current = parse('current', candidates.current)
  const requested = parse('requested', candidates.requested)

  const conflicts = [
    describeConflict(['binding', binding], ['header', header], false),
    describeConflict(['binding', binding], ['current', current], true),
    describeConflict(['header', header], ['current', current], true),
  ].filter((pair) => pair !== null)
  if (conflicts.length > 0) {
    throw new AppError('source_conflict', 'This session belongs to two different sources. Open it where it was made.', {
      detail: conflicts.join('; '),
    })
  }

  const source = binding ?? header ?? current ?? requested
  if (source === null) throw new AppError('source_unknown', 'Nobody said where this session was asked for.')
  return { source, entrySource: requested ?? source }
}

function parse(name: string, value: string | null | undefined): Source | null {
  if (value === null || value === undefined) return null
  const parsed = Source.safeParse(value)
  if (parsed.success) return parsed.data
  throw new AppError('source_invalid', 'This session names a source that does not exist.', {
    detail: `${name} ${JSON.stringify(value.slice(0, 64))}`,
  })
}

type Candidate = readonly [name: string, source: Source | null]

/** `live`: the second one is the live session, whose being a person's contradicts a persisted owner. */
function describeConflict(first: Candidate, second: Candidate, live: boolean): string | null {
  const [firstName, a] = first
  const [secondName, b] = second
  if (a === null || b === null || a === b || !isUnattended(a)) return null
  return isUnattended(b) || live ? `${firstName} ${a}, ${secondName} ${b}` : null
}
