import type { RuleView } from '../../../shared/bridge/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { exactTime, PathText, Revealed, revealText, shortTime, useNow } from '../../text/index.ts'
import { Button, Facts, Row, RowActions, RowHead, StateMark } from '../../ui/index.ts'
import { titleOf } from '../sessions/index.ts'
import styles from './permissions.module.css'

export interface RuleRowProps {
  rule: RuleView
  /** It is what the person came for. */
  wanted: boolean
  onWithdraw: () => void
}

/** One rule in a sentence: what it answers, for what, and where it holds. */
export function RuleRow({ rule, wanted, onWithdraw }: RuleRowProps) {
  const { permissions } = strings
  const nowMs = Math.max(useNow(), rule.createdAt)
  const name = revealText(rule.pattern)
  return (
    <Row data-rule={rule.id} data-wanted={wanted ? '' : undefined} tabIndex={-1}>
      <RowHead>
        <StateMark
          showLabel
          state={rule.effect === 'allow' ? 'completed' : 'failed'}
          label={rule.effect === 'allow' ? permissions.allows : permissions.rejects}
        />
        <span className={styles.what}>
          {permissions.says(rule)}{' '}
          <code className={styles.pattern}>
            <Revealed text={rule.pattern} />
          </code>
        </span>
        <RowActions>
          <Button aria-label={permissions.named(permissions.withdraw, name)} onClick={onWithdraw}>
            {permissions.withdraw}
          </Button>
        </RowActions>
      </RowHead>
      <Facts>
        {rule.folder !== null && rule.folder !== rule.projectDir && (
          <span>
            {permissions.startedIn} <PathText path={rule.folder} />
          </span>
        )}
        {rule.projectDir !== null && (
          <span>
            {permissions.inProject} <PathText path={rule.projectDir} />
          </span>
        )}
        {rule.sessionId !== null && (
          <span>
            {permissions.inSession}{' '}
            <a href={viewHash({ kind: 'session', sessionId: rule.sessionId })}>
              {titleOf({ title: rule.sessionTitle ?? '' })}
            </a>
          </span>
        )}
        <time dateTime={new Date(rule.createdAt).toISOString()} title={exactTime(rule.createdAt)}>
          {madeAt(rule.createdAt, nowMs)}
        </time>
      </Facts>
    </Row>
  )
}

function madeAt(atMs: number, nowMs: number): string {
  const relative = shortTime(atMs, nowMs)
  const { made, madeOn } = strings.permissions
  return nowMs - atMs < 24 * 3_600_000 ? made(relative) : madeOn(relative)
}
