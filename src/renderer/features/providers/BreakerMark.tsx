import type { ConnectionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { timeOfDay, useNow } from '../../text/index.ts'
import { StateMark } from '../../ui/index.ts'

/** A Provider that failed again and again, and when it is tried again. */
export function BreakerMark({ breaker }: { breaker: NonNullable<ConnectionView['breaker']> }) {
  const nowMs = useNow()
  const { providers } = strings
  const label =
    breaker.state === 'probing'
      ? providers.failingProbe
      : breaker.untilMs <= nowMs
        ? providers.failingNext
        : providers.failing(timeOfDay(breaker.untilMs, nowMs))
  return <StateMark showLabel state={breaker.state === 'probing' ? 'recovering' : 'failed'} label={label} />
}
