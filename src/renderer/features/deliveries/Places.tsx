import { useState } from 'react'
import type { TargetView } from '../../../shared/bridge/index.ts'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote, Rows } from '../../ui/index.ts'
import { PlaceDialog } from './PlaceDialog.tsx'
import { PlaceRow } from './PlaceRow.tsx'
import { RemovePlace } from './RemovePlace.tsx'
import { usePlaces } from './usePlaces.ts'
import styles from './deliveries.module.css'

type Open = { kind: 'add' } | { kind: 'edit' | 'remove'; place: TargetView }

/** The places that answers are sent to, as a part of the settings. */
export function Places() {
  const places = usePlaces()
  const [open, setOpen] = useState<Open | null>(null)
  const { deliveries } = strings
  const close = (): void => setOpen(null)
  const targets = places.data?.targets ?? []
  return (
    <div className={styles.places}>
      <div className={styles.placesHead}>
        <p className={styles.small}>{deliveries.placesAbout}</p>
        <a href={viewHash({ kind: 'deliveries' })}>{deliveries.openList}</a>
        <Button onClick={() => setOpen({ kind: 'add' })}>{deliveries.add}</Button>
      </div>
      {places.error !== null && <ErrorNote error={places.error} onRetry={() => void places.refetch()} />}
      {places.data !== undefined && targets.length === 0 && <p className={styles.small}>{deliveries.noPlaces}</p>}
      {targets.length > 0 && (
        <Rows aria-label={deliveries.places}>
          {targets.map((place) => (
            <PlaceRow
              key={place.id}
              place={place}
              onEdit={() => setOpen({ kind: 'edit', place })}
              onRemove={() => setOpen({ kind: 'remove', place })}
            />
          ))}
        </Rows>
      )}
      {open !== null && open.kind !== 'remove' && (
        <PlaceDialog
          place={open.kind === 'edit' ? open.place : null}
          notificationsUnavailable={places.data?.notificationsUnavailable ?? null}
          onClose={close}
        />
      )}
      {open?.kind === 'remove' && <RemovePlace place={open.place} onClose={close} />}
    </div>
  )
}
