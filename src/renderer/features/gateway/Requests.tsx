import type { RequestView } from '../../../shared/bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { amount, duration, exactTime, Revealed, revealText, timeOfDay, useNow } from '../../text/index.ts'
import { useRequests } from './useRequests.ts'
import styles from './gateway.module.css'

/** Every request of every agent, the newest first. */
export function Requests() {
  const isOff = useTopic('settings', (state) => state.value['requestInspector'] === false)
  const { gateway } = strings
  return (
    <section className={styles.section} aria-labelledby="requests-heading">
      <h2 id="requests-heading">{gateway.requests}</h2>
      {isOff ? <p className={styles.small}>{gateway.requestsOff}</p> : <RequestList />}
    </section>
  )
}

function RequestList() {
  const requests = useRequests()
  const { gateway } = strings
  return (
    <>
      <p className={styles.small}>{gateway.requestsText}</p>
      {requests?.length === 0 && <p className={styles.small}>{gateway.noRequests}</p>}
      {requests !== null && requests.length > 0 && (
        <p className={styles.small}>
          {gateway.overTime} <a href={viewHash({ kind: 'usage' })}>{gateway.openUsage}</a>
        </p>
      )}
      {requests !== null && requests.length > 0 && (
        <div className={styles.scroll} tabIndex={0} role="group" aria-label={gateway.requests}>
          <table className={styles.table}>
            <thead>
              <tr>
                {Object.entries(gateway.columns).map(([key, label]) => (
                  <th key={key} scope="col">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {requests.map((request) => (
                <Row key={request.id} request={request} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function Row({ request }: { request: RequestView }) {
  const catalog = useTopic('providers', (state) => state.value)
  const nowMs = useNow()
  const { gateway } = strings
  const { at, sessionId, client, connectionId, endpoint, modelSent, modelAsked } = request
  const { status, code, end, firstByteMs, tokens, flags } = request
  const special = gateway.endpoint(endpoint)
  const provider = catalog?.connections.find(({ id }) => id === connectionId)?.name ?? gateway.unknown
  const model = modelSent || modelAsked || (special === null ? gateway.unknown : '')
  const failed = (status ?? 500) >= 400 || !['completed', 'incomplete'].includes(end)
  return (
    <tr data-failed={failed ? '' : undefined}>
      <td title={exactTime(at)}>{timeOfDay(at, nowMs)}</td>
      <td>
        {strings.agents.name(client)}{' '}
        {sessionId === null ? (
          <span className={styles.small}>{gateway.byGateway}</span>
        ) : (
          <a href={viewHash({ kind: 'session', sessionId })}>{gateway.bySession}</a>
        )}
      </td>
      <td>
        {provider} {flags.includes('failover') && <span className={styles.small}>{gateway.fallback}</span>}
      </td>
      <td className={styles.model} title={revealText(model)}>
        <Revealed text={model} /> {special !== null && <span className={styles.small}>{special}</span>}
      </td>
      <td>
        {status ?? gateway.noStatus} {code !== null && <code className={styles.small}>{code}</code>}
        {code === null && failed && status !== null && status < 400 && (
          <span className={styles.small}>{gateway.end(end)}</span>
        )}
      </td>
      <td className={styles.number}>{firstByteMs === null ? gateway.unknown : duration(firstByteMs)}</td>
      <td className={styles.number}>
        {tokens === null ? gateway.unknown : `${count(tokens.input)} / ${count(tokens.output)}`}
      </td>
    </tr>
  )
}

function count(tokens: number | null): string {
  return tokens === null ? strings.gateway.unknown : amount(tokens)
}
