import type { ProjectFinding } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import styles from './trust.module.css'

/** Each file that would count, and what it would do, as it is on disk. None of it is taken on trust here. */
export function Findings({ findings, more }: { findings: readonly ProjectFinding[]; more: boolean }) {
  const { trust } = strings
  return (
    <details className={styles.findings} open={findings.length <= 4}>
      <summary>{trust.whatCount(findings.length)}</summary>
      <ul aria-label={trust.what}>
        {findings.map(({ path, kind, effects, unread }) => (
          <li key={path}>
            <code>
              <Revealed text={path} />
            </code>{' '}
            <span className={styles.small}>{unread === null ? trust.kind(kind) : trust.unread(unread)}</span>
            {effects.map(({ what, names, more: others = 0 }) => (
              <p key={what} className={styles.effect}>
                {trust.effect(what)}:{' '}
                {names.map((name, index) => (
                  <span key={name}>
                    {index > 0 && ', '}
                    <code>
                      <Revealed text={name} />
                    </code>
                  </span>
                ))}
                {others > 0 && ` ${trust.andMore(others)}`}
              </p>
            ))}
          </li>
        ))}
      </ul>
      {more && <p className={styles.small}>{trust.more}</p>}
    </details>
  )
}
