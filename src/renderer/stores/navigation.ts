import { useSyncExternalStore } from 'react'

/** What the main pane shows. It stands in the address, so that a reload and the back button keep it. */
export type View =
  | { kind: 'home' }
  | { kind: 'session'; sessionId: string }
  | { kind: 'new' }
  | { kind: 'approvals'; decisionId: string | null }
  | { kind: 'providers' }
  | { kind: 'health' }
  | { kind: 'settings' }

export function parseView(hash: string): View {
  const [, first = '', second = ''] = hash.replace(/^#/, '').split('/')
  switch (first) {
    case 'session':
      return second === '' ? { kind: 'home' } : { kind: 'session', sessionId: second }
    case 'approvals':
      return { kind: 'approvals', decisionId: second === '' ? null : second }
    case 'new':
    case 'providers':
    case 'health':
    case 'settings':
      return { kind: first }
    default:
      return { kind: 'home' }
  }
}

export function viewHash(view: View): string {
  switch (view.kind) {
    case 'home':
      return '#/'
    case 'session':
      return `#/session/${view.sessionId}`
    case 'approvals':
      return view.decisionId === null ? '#/approvals' : `#/approvals/${view.decisionId}`
    default:
      return `#/${view.kind}`
  }
}

export function navigate(view: View): void {
  window.location.hash = viewHash(view)
}

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}

export function useView(): View {
  return parseView(useSyncExternalStore(subscribe, () => window.location.hash))
}
