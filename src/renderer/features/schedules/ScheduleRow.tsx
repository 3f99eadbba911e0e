import type { ScheduleView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { navigate, viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, PathText, Revealed, shortTime, timeOfDay, useNow } from '../../text/index.ts'
import { Button, ErrorNote, Facts, Menu, Row, RowActions, RowHead, StateMark } from '../../ui/index.ts'
import { cronWords } from './cron-words.ts'
import styles from './schedules.module.css'

export interface ScheduleRowProps {
  schedule: ScheduleView
  onEdit: () => void
  onDelete: () => void
}

/** One schedule in plain words. */
export function ScheduleRow({ schedule, onEdit, onDelete }: ScheduleRowProps) {
  const nowMs = useNow()
  const run = useChange('schedules.run')
  const update = useChange('schedules.update')
  const { schedules } = strings
  const { id, name, enabled, nextAt, sessionId, rev } = schedule
  const start = (): void =>
    run.mutate({ id }, { onSuccess: (started) => navigate({ kind: 'session', sessionId: started.sessionId }) })
  const error = run.error ?? update.error
  return (
    <Row>
      <RowHead>
        <StateMark showLabel state={enabled ? 'completed' : 'idle'} label={enabled ? schedules.on : schedules.off} />
        <strong>
          <Revealed text={name} />
        </strong>
        <span>{cronWords(schedule.cron)}</span>
        <span className={styles.small}>{schedule.timeZone}</span>
        <RowActions>
          <Button pending={run.isPending} aria-label={schedules.named(schedules.run, name)} onClick={start}>
            {schedules.run}
          </Button>
          <Menu
            label={schedules.named(schedules.menu, name)}
            trigger="⋯"
            actions={[
              { label: schedules.edit, onSelect: onEdit },
              {
                label: enabled ? schedules.turnOff : schedules.turnOn,
                onSelect: () => update.mutate({ id, expectedRev: rev, change: { enabled: !enabled } }),
              },
              { label: schedules.remove, tone: 'danger', onSelect: onDelete },
            ]}
          />
        </RowActions>
      </RowHead>
      <Facts>
        <span>{strings.agents.name(schedule.agentId)}</span>
        <PathText path={schedule.workDir} />
        {enabled && (
          <span title={nextAt === null ? undefined : exactTime(nextAt)}>
            {nextAt === null ? schedules.never : schedules.next(timeOfDay(nextAt, nowMs))}
          </span>
        )}
        {schedule.last !== null && <Last last={schedule.last} nowMs={nowMs} />}
        {sessionId !== null && <a href={viewHash({ kind: 'session', sessionId })}>{schedules.openSession}</a>}
      </Facts>
      {error !== null && <ErrorNote error={error} />}
    </Row>
  )
}

function Last({ last, nowMs }: { last: NonNullable<ScheduleView['last']>; nowMs: number }) {
  const { schedules, session } = strings
  const what =
    last.outcome === 'started' && last.runState !== null
      ? session.runStates[last.runState]
      : schedules.lastAs(last.outcome)
  return (
    <span className={last.outcome === 'failed' ? styles.warn : undefined} title={exactTime(last.at)}>
      {schedules.last(what, schedules.when(shortTime(last.at, Math.max(nowMs, last.at))))}
      {last.message !== null && (
        <>
          {': '}
          <Revealed text={last.message} />
        </>
      )}
      {last.code !== null && <code> {last.code}</code>}
    </span>
  )
}
