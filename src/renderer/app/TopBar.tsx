import { strings } from '../strings/index.ts'
import { useTopic } from '../stores/app-stores.tsx'
import { navigate, viewHash } from '../stores/navigation.ts'
import type { View } from '../stores/navigation.ts'
import { Button, IconButton, Kbd, Menu } from '../ui/index.ts'
import { modifierName } from './platform.ts'
import styles from './TopBar.module.css'

const PLACES = ['schedules', 'providers', 'gateway', 'usage', 'health', 'settings'] as const

export interface TopBarProps {
  view: View
  sidebarOpen: boolean
  onToggleSidebar: () => void
  onPalette: () => void
}

export function TopBar({ view, sidebarOpen, onToggleSidebar, onPalette }: TopBarProps) {
  const waiting = useTopic('decisions', (state) => state.value.pending.length)
  return (
    <header className={styles.bar}>
      <IconButton
        label={sidebarOpen ? strings.app.hideSidebar : strings.app.showSidebar}
        shortcut={`${modifierName()}B`}
        onClick={onToggleSidebar}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" aria-hidden="true">
          <rect x="2" y="3" width="12" height="10" rx="1.5" />
          <path d="M6.5 3v10" />
        </svg>
      </IconButton>
      <Button onClick={() => navigate({ kind: 'new' })}>{strings.app.newSession}</Button>
      <button type="button" className={styles.search} onClick={onPalette}>
        <span>{strings.app.palette.title}</span>
        <Kbd>{`${modifierName()}K`}</Kbd>
      </button>
      <div className={styles.places}>
        <a
          className={styles.place}
          href={viewHash({ kind: 'approvals', decisionId: null })}
          aria-current={view.kind === 'approvals' ? 'page' : undefined}
          data-waiting={waiting > 0 ? '' : undefined}
        >
          {strings.app.views.approvals}
          {waiting > 0 && (
            <>
              <span className={styles.count} aria-hidden="true">
                {waiting}
              </span>
              <span className={styles.said}>{strings.app.waitingCount(waiting)}</span>
            </>
          )}
        </a>
        <div className={styles.wide}>
          {PLACES.map((kind) => (
            <a
              key={kind}
              className={styles.place}
              href={viewHash({ kind })}
              aria-current={view.kind === kind ? 'page' : undefined}
            >
              {strings.app.views[kind]}
            </a>
          ))}
        </div>
        <div className={styles.narrow}>
          <Menu
            label={strings.app.more}
            trigger="☰"
            actions={PLACES.map((kind) => ({ label: strings.app.views[kind], onSelect: () => navigate({ kind }) }))}
          />
        </div>
      </div>
    </header>
  )
}
