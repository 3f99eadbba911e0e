import { useVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import { assertNever } from '../../../shared/errors.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote, Select, TextField } from '../../ui/index.ts'
import type { SelectItem } from '../../ui/index.ts'
import { HitRow } from './HitRow.tsx'
import { ROW_PX } from './rows.ts'
import type { ListRow, SessionFilter } from './rows.ts'
import { SessionRow } from './SessionRow.tsx'
import { useListKeys } from './useListKeys.ts'
import { useSessionRows } from './useSessionRows.ts'
import styles from './SessionList.module.css'

/** Together with a list of 50 rows in sight this stays below the 60 that the list may hold in the page. */
const OVERSCAN = 4

const STATES: readonly SelectItem<SessionFilter>[] = (
  ['open', 'waiting', 'running', 'failed', 'held', 'archived'] as const
).map((value) => ({ value, label: strings.sessions.filters[value] }))

/** Every session by its folder, newest first; as many rows in the page as can be seen. */
export function SessionList({ currentId }: { currentId: string | null }) {
  const [typed, setTyped] = useState('')
  const [filter, setFilter] = useState<SessionFilter>('open')
  const search = useDeferredValue(typed)
  const { rows, loaded, agents, searching, searchError, more } = useSessionRows(search, filter)
  const filters = [
    ...STATES,
    ...(agents.length < 2
      ? []
      : agents.map((id): SelectItem<SessionFilter> => ({ value: `agent:${id}`, label: strings.agents.name(id) }))),
  ]
  const scroller = useRef<HTMLDivElement>(null)
  const searchField = useRef<HTMLInputElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ROW_PX[rows[index]?.kind ?? 'session'],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN,
    initialRect: { width: 260, height: 640 },
  })
  useListKeys({ rows, currentId, scroller, searchField, scrollTo: virtual.scrollToIndex })
  useEffect(() => {
    const index = rows.findIndex((row) => row.key === currentId)
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' })
    // Only a change of the current session scrolls: news of others moves nothing.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [currentId, loaded])

  const filtered = typed !== '' || filter !== 'open'
  return (
    <div className={styles.list}>
      <div className={styles.tools}>
        <TextField
          label={strings.sessions.search}
          labelHidden
          type="search"
          placeholder={strings.sessions.search}
          value={typed}
          inputRef={searchField}
          onChange={setTyped}
        />
        <Select label={strings.sessions.filter} tone="quiet" value={filter} items={filters} onChange={setFilter} />
      </div>
      <div ref={scroller} className={styles.scroller}>
        {searchError !== null && <ErrorNote error={searchError} />}
        {loaded && rows.length === 0 && !searching && (
          <div className={styles.empty}>
            <p>{filtered ? strings.sessions.noMatch : strings.sessions.none}</p>
            {filtered ? (
              <Button
                tone="quiet"
                onClick={() => {
                  setTyped('')
                  setFilter('open')
                }}
              >
                {strings.sessions.clear}
              </Button>
            ) : (
              <p>{strings.sessions.noneHint}</p>
            )}
          </div>
        )}
        <ul className={styles.rows} style={{ blockSize: virtual.getTotalSize() }} aria-label={strings.sessions.nav}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index]
            if (row === undefined) return null
            return (
              <li
                key={item.key}
                className={styles.item}
                style={{ transform: `translateY(${item.start}px)`, blockSize: item.size }}
              >
                <Row row={row} current={row.key === currentId} onMore={more} />
              </li>
            )
          })}
        </ul>
      </div>
    </div>
  )
}

function Row({ row, current, onMore }: { row: ListRow; current: boolean; onMore: (() => void) | null }) {
  switch (row.kind) {
    case 'folder':
      return (
        <div className={styles.folder} title={row.path}>
          <h2>{row.name}</h2>
          <span className={styles.count}>{row.count}</span>
        </div>
      )
    case 'session':
      return <SessionRow session={row.session} current={current} />
    case 'heading':
      return (
        <div className={styles.folder}>
          <h2>{strings.sessions.inTranscripts}</h2>
        </div>
      )
    case 'hit':
      return <HitRow hit={row.hit} rowKey={row.key} />
    case 'more':
      return (
        <Button tone="quiet" {...(onMore === null ? {} : { onClick: onMore })}>
          {strings.sessions.moreHits}
        </Button>
      )
    default:
      return assertNever(row)
  }
}
