import { useId, useMemo, useState } from 'react'
import { strings } from '../strings/index.ts'
import { Dialog } from '../ui/index.ts'
import { usePaletteEntries } from './usePaletteEntries.ts'
import type { PaletteDoors, PaletteEntry } from './usePaletteEntries.ts'
import styles from './CommandPalette.module.css'

const MAX_SHOWN = 50

export interface CommandPaletteProps extends PaletteDoors {
  open: boolean
  onClose: () => void
}

/** Every action and session by typing a part of its words. */
export function CommandPalette({ open, onClose, ...doors }: CommandPaletteProps) {
  return (
    <Dialog open={open} title={strings.app.palette.title} onClose={onClose}>
      <Palette {...doors} onClose={onClose} />
    </Dialog>
  )
}

function Palette({ onClose, ...doors }: PaletteDoors & { onClose: () => void }) {
  const entries = usePaletteEntries(doors)
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(0)
  const shown = useMemo(() => filter(entries, search).slice(0, MAX_SHOWN), [entries, search])
  const listId = useId()
  const current = Math.min(active, shown.length - 1)
  const run = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  return (
    <div className={styles.palette}>
      <input
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the dialog was opened to type into it
        autoFocus
        className={styles.search}
        role="combobox"
        aria-label={strings.app.palette.search}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={shown.length > 0 ? `${listId}-${current}` : undefined}
        placeholder={strings.app.palette.search}
        value={search}
        onChange={(event) => {
          setSearch(event.target.value)
          setActive(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setActive(Math.min(current + 1, shown.length - 1))
          else if (event.key === 'ArrowUp') setActive(Math.max(current - 1, 0))
          else if (event.key === 'Enter') run(shown[current])
          else return
          event.preventDefault()
        }}
      />
      <ul id={listId} role="listbox" aria-label={strings.app.palette.title} className={styles.list}>
        {shown.map((entry, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- keys are the combobox's
          <li
            key={entry.id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === current}
            className={styles.option}
            ref={index === current ? intoView : undefined}
            onPointerMove={() => setActive(index)}
            onClick={() => run(entry)}
          >
            <span className={styles.label}>{entry.label}</span>
            <span className={styles.note}>{entry.note}</span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className={styles.note}>{strings.app.palette.none}</p>}
    </div>
  )
}

function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function filter(entries: readonly PaletteEntry[], search: string): readonly PaletteEntry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return entries
  return entries.filter((entry) => {
    const text = `${entry.label} ${entry.note}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
