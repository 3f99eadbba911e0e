import { useVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Button, Select, TextField } from '../../ui/index.ts'
import type { SelectItem } from '../../ui/index.ts'
import type { SessionFilter } from './rows.ts'
import { SessionRow } from './SessionRow.tsx'
import { useListKeys } from './useListKeys.ts'
import { useSessionRows } from './useSessionRows.ts'
import styles from './SessionList.module.css'

const ROW_PX = 28
/** Together with a list of 50 rows in sight this stays below the 60 that the list may hold in the page. */
const OVERSCAN = 4

const FILTERS: readonly SelectItem<SessionFilter>[] = (
  ['open', 'waiting', 'running', 'failed', 'held', 'archived'] as const
).map((value) => ({ value, label: strings.sessions.filters[value] }))

/** Every session by its folder, newest first; as many rows in the page as can be seen. */
export function SessionList({ currentId }: { currentId: string | null }) {
  const [typed, setTyped] = useState('')
  const [filter, setFilter] = useState<SessionFilter>('open')
  const search = useDeferredValue(typed)
  const { rows, loaded } = useSessionRows(search, filter)
  const scroller = useRef<HTMLDivElement>(null)
  const searchField = useRef<HTMLInputElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
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
        <Select label={strings.sessions.filter} tone="quiet" value={filter} items={FILTERS} onChange={setFilter} />
      </div>
      <div ref={scroller} className={styles.scroller}>
        {loaded && rows.length === 0 && (
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
              <li key={item.key} className={styles.item} style={{ transform: `translateY(${item.start}px)` }}>
                {row.kind === 'folder' ? (
                  <div className={styles.folder} title={row.path}>
                    <h2>{row.name}</h2>
                    <span className={styles.count}>{row.count}</span>
                  </div>
                ) : (
                  <SessionRow session={row.session} current={row.key === currentId} />
                )}
              </li>
            )
          })}
        </ul>
      </div>
    </div>
  )
}
