import { strings } from '../../strings/index.ts'
import { PathText, Revealed } from '../../text/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import type { CardDecision } from './card.ts'
import styles from './card.module.css'

/** Where it happens: folder, session, tool; the agent's own wrapper is one click away. */
export function Facts({ decision, showSession }: { decision: CardDecision; showSession: boolean }) {
  const { action, context, paths, workDir } = decision
  const { approvals } = strings
  const folder = action.kind === 'command' ? action.cwd : workDir
  return (
    <>
      <dl className={styles.facts}>
        {folder !== null && folder !== '' && (
          <div>
            <dt>{approvals.folder}</dt>
            <dd>
              <PathText path={folder} />
            </dd>
          </div>
        )}
        {action.kind === 'mcp' && (
          <>
            <div>
              <dt>{approvals.server}</dt>
              <dd>
                <Revealed text={action.server} />
              </dd>
            </div>
            <div>
              <dt>{approvals.tool}</dt>
              <dd>
                <Revealed text={action.tool} />
              </dd>
            </div>
          </>
        )}
        {action.kind !== 'edit' && paths.length > 0 && (
          <div>
            <dt>{approvals.touches}</dt>
            <dd className={styles.paths}>
              {paths.map((path) => (
                <PathText key={path} path={path} {...(workDir === null ? {} : { within: workDir })} />
              ))}
            </dd>
          </div>
        )}
        {showSession && context !== null && (
          <div>
            <dt>{approvals.session}</dt>
            <dd>
              <a
                href={viewHash({ kind: 'session', sessionId: context.sessionId })}
                aria-label={approvals.openSession(context.sessionTitle)}
              >
                {context.sessionTitle}
              </a>
              <span className={styles.small}> {strings.agents.name(context.agentId)}</span>
            </dd>
          </div>
        )}
      </dl>
      {action.kind === 'command' && action.wrapper !== null && (
        <details className={styles.wrapper}>
          <summary>{approvals.wrapper}</summary>
          <pre className={styles.exact}>
            <Revealed text={action.wrapper} />
          </pre>
        </details>
      )}
    </>
  )
}
