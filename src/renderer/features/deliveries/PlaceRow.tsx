import type { TargetView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { PathText, Revealed } from '../../text/index.ts'
import { Button, ErrorNote, Facts, Menu, Row, RowActions, RowHead, StateMark } from '../../ui/index.ts'
import styles from './deliveries.module.css'

export interface PlaceRowProps {
  place: TargetView
  onEdit: () => void
  onRemove: () => void
}

/** One place: what it is, which answers it takes, and whether something can be sent there. */
export function PlaceRow({ place, onEdit, onRemove }: PlaceRowProps) {
  const test = useChange('deliveries.targets.test')
  const { deliveries } = strings
  const { name, kind, enabled, unusable } = place
  const send = (): void => test.mutate({ id: place.id })
  return (
    <Row>
      <RowHead>
        <StateMark
          showLabel
          state={!enabled ? 'idle' : unusable === null ? 'completed' : 'failed'}
          label={enabled ? deliveries.kind(kind) : `${deliveries.kind(kind)}, ${deliveries.off.toLowerCase()}`}
        />
        <strong>
          <Revealed text={name} />
        </strong>
        <RowActions>
          <Button pending={test.isPending} aria-label={deliveries.named(deliveries.test, name)} onClick={send}>
            {test.isPending ? deliveries.testing : deliveries.test}
          </Button>
          <Menu
            label={deliveries.named(strings.app.more, name)}
            trigger="⋯"
            actions={[
              { label: deliveries.edit, onSelect: onEdit },
              { label: deliveries.remove, tone: 'danger', onSelect: onRemove },
            ]}
          />
        </RowActions>
      </RowHead>
      <Facts>
        {place.folder !== null && <PathText path={place.folder} />}
        {place.address !== null && <code>{place.address}</code>}
        {place.hasToken && <span>{deliveries.withToken}</span>}
        {place.plaintext && <span className={styles.warn}>{deliveries.plaintext}</span>}
        <span>{deliveries.runsOf[place.runs]}</span>
      </Facts>
      {unusable !== null && <p className={styles.warn}>{unusable}</p>}
      {test.data !== undefined && (
        <p role="status" className={test.data.delivered ? styles.small : styles.warn}>
          {test.data.delivered
            ? deliveries.tested
            : `${deliveries.notTested} ${deliveries.reason(test.data.failureCode ?? '')}`}
        </p>
      )}
      {test.error !== null && <ErrorNote error={test.error} onRetry={send} />}
    </Row>
  )
}
