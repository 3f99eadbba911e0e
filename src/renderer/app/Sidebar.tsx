import { SessionList } from '../features/sessions/index.ts'
import { strings } from '../strings/index.ts'
import { SIDEBAR } from './useSidebar.ts'
import styles from './Sidebar.module.css'

export interface SidebarProps {
  /** In CSS pixels. */
  width: number
  currentId: string | null
  onResize: (width: number) => void
}

export function Sidebar({ width, currentId, onResize }: SidebarProps) {
  return (
    <nav className={styles.nav} aria-label={strings.sessions.nav} style={{ inlineSize: width }}>
      <SessionList currentId={currentId} />
      <Separator width={width} onResize={onResize} />
    </nav>
  )
}

/** A splitter that arrows, Home and End move as the pointer does. */
function Separator({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a focusable separator is a widget
    <div
      className={styles.separator}
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={strings.app.resizeSidebar}
      aria-valuemin={SIDEBAR.minPx}
      aria-valuemax={SIDEBAR.maxPx}
      aria-valuenow={width}
      onKeyDown={(event) => {
        const next = byKey(event.key, width)
        if (next === null) return
        event.preventDefault()
        onResize(next)
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onResize(event.clientX)
      }}
    />
  )
}

function byKey(key: string, width: number): number | null {
  switch (key) {
    case 'ArrowLeft':
      return width - SIDEBAR.stepPx
    case 'ArrowRight':
      return width + SIDEBAR.stepPx
    case 'Home':
      return SIDEBAR.minPx
    case 'End':
      return SIDEBAR.maxPx
    default:
      return null
  }
}
