import { useRef, useState } from 'react'
import { useBridgeStatus } from '../bridge/index.ts'
import { strings } from '../strings/index.ts'
import { useView, viewHash } from '../stores/navigation.ts'
import { CommandPalette } from './CommandPalette.tsx'
import { ConnectionBanner } from './ConnectionBanner.tsx'
import { KeysDialog } from './KeysDialog.tsx'
import { LiveRegions } from './LiveRegions.tsx'
import { MainView } from './routes.tsx'
import { Sidebar } from './Sidebar.tsx'
import { TopBar } from './TopBar.tsx'
import { UpdateBanner } from './UpdateBanner.tsx'
import { useFreshQueries } from './useFreshQueries.ts'
import { useGlobalKeys } from './useGlobalKeys.ts'
import { useKeptFocus } from './useKeptFocus.ts'
import { usePresence } from './usePresence.ts'
import { useStrayDrops } from './useStrayDrops.ts'
import { useSidebar } from './useSidebar.ts'
import { useTheme } from './useTheme.ts'
import styles from './App.module.css'

type Overlay = 'palette' | 'keys'

/** The window: sessions beside what is open, and what belongs to both. */
export function App() {
  const view = useView()
  const status = useBridgeStatus()
  const sidebar = useSidebar()
  const main = useRef<HTMLElement>(null)
  const [overlay, setOverlay] = useState<Overlay | null>(null)
  useTheme()
  useFreshQueries()
  usePresence(view)
  useStrayDrops()
  useKeptFocus(viewHash(view), main)
  useGlobalKeys({
    openPalette: () => setOverlay('palette'),
    openKeys: () => setOverlay('keys'),
    toggleSidebar: sidebar.toggle,
  })
  return (
    <div className={styles.window} data-sidebar={sidebar.open ? 'open' : 'closed'}>
      <a
        className={styles.skip}
        href="#main"
        onClick={(event) => {
          // The address holds the view: the anchor must not change it.
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {strings.app.skip}
      </a>
      <TopBar
        view={view}
        sidebarOpen={sidebar.open}
        onToggleSidebar={sidebar.toggle}
        onPalette={() => setOverlay('palette')}
      />
      <div>
        <ConnectionBanner status={status} />
        <UpdateBanner />
      </div>
      <div className={styles.panes} data-stale={status.kind === 'lost' || status.kind === 'refused' ? '' : undefined}>
        {sidebar.open && (
          <Sidebar
            width={sidebar.width}
            onResize={sidebar.resize}
            currentId={view.kind === 'session' ? view.sessionId : null}
          />
        )}
        <main ref={main} id="main" className={styles.main} tabIndex={-1}>
          <MainView view={view} />
        </main>
      </div>
      <CommandPalette
        open={overlay === 'palette'}
        onClose={() => setOverlay(null)}
        onKeys={() => setOverlay('keys')}
        onToggleSidebar={sidebar.toggle}
      />
      <KeysDialog open={overlay === 'keys'} onClose={() => setOverlay(null)} />
      <LiveRegions />
    </div>
  )
}
