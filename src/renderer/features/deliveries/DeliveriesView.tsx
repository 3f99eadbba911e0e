import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProcedureOutput } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge, useBridgeStatus } from '../../bridge/index.ts'
import { navigate } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { Button, EmptyState, ErrorNote, Rows, Select, View } from '../../ui/index.ts'
import { DeliveryRow } from './DeliveryRow.tsx'
import { useFreshDeliveries } from './usePlaces.ts'
import styles from './deliveries.module.css'

const PAGE = 50
const { deliveries } = strings
type Status = keyof typeof deliveries.statuses
const STATUSES = (Object.keys(deliveries.statuses) as Status[]).map((value) => ({
  value,
  label: deliveries.statuses[value],
}))

/** What was sent where, newest first, and what became of it. */
export function DeliveriesView() {
  const [status, setStatus] = useState<Status>('all')
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching } = useDeliveries(status)
  const rows = data?.pages.flatMap((page) => page.deliveries) ?? []
  return (
    <View
      title={deliveries.heading}
      about={deliveries.about}
      action={
        <>
          <Select label={deliveries.status} tone="quiet" value={status} items={STATUSES} onChange={setStatus} />
          <Button onClick={() => navigate({ kind: 'settings' })}>{deliveries.settings}</Button>
        </>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data !== undefined && rows.length === 0 && status === 'all' && (
        <EmptyState title={deliveries.none}>{deliveries.noneHint}</EmptyState>
      )}
      {data !== undefined && rows.length === 0 && status !== 'all' && (
        <p className={styles.small}>{deliveries.noneOfThese}</p>
      )}
      {rows.length > 0 && (
        <Rows aria-label={deliveries.heading}>
          {rows.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </Rows>
      )}
      {hasNextPage && (
        <Button tone="quiet" pending={isFetching} onClick={() => void fetchNextPage()}>
          {deliveries.more}
        </Button>
      )}
    </View>
  )
}

function useDeliveries(status: Status) {
  const bridge = useBridge()
  const open = useBridgeStatus().kind === 'open'
  useFreshDeliveries()
  return useInfiniteQuery<
    ProcedureOutput<'deliveries.list'>,
    AppError,
    { pages: ProcedureOutput<'deliveries.list'>[] },
    readonly unknown[],
    string | undefined
  >({
    queryKey: ['deliveries.list', { status }],
    queryFn: ({ pageParam, signal }) =>
      bridge.call(
        'deliveries.list',
        {
          limit: PAGE,
          ...(status === 'all' ? {} : { status }),
          ...(pageParam === undefined ? {} : { before: pageParam }),
        },
        signal,
      ),
    initialPageParam: undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    enabled: open,
    placeholderData: keepPreviousData,
  })
}
