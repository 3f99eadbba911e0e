import { useIsFrail } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { Rows, View } from '../../ui/index.ts'
import { Requests } from './Requests.tsx'
import { NewKey } from './NewKey.tsx'
import { TakeoverRow } from './TakeoverRow.tsx'
import styles from './gateway.module.css'

/** The gateway, which agents lead to it, and the newest requests. */
export function GatewayView() {
  const view = useTopic('gateway', (state) => state.value)
  const isFrail = useIsFrail('gateway')
  const { gateway } = strings
  return (
    <View title={gateway.heading} about={gateway.intro}>
      {view !== null && (
        <p className={styles.small} data-failed={view.code === null ? undefined : ''}>
          {view.listening
            ? gateway.listening(view.address)
            : view.code === null
              ? gateway.notListening
              : gateway.failed(view.code)}
        </p>
      )}
      {isFrail && (
        <p className={styles.detail} role="status">
          {gateway.warning('not_durable')}
        </p>
      )}
      {view?.takeovers.some(({ enabled }) => enabled) === true && <NewKey />}
      {view !== null && (
        <Rows>
          {view.takeovers.map((takeover) => (
            <TakeoverRow key={takeover.client} takeover={takeover} upstream={view.upstreams[takeover.client]} />
          ))}
        </Rows>
      )}
      <Requests />
    </View>
  )
}
