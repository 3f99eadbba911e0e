import { useSyncExternalStore } from 'react'

/** What the main pane shows. It stands in the address, so that a reload and the back button keep it. */
export type View =
  | { kind: 'home' }
  /** `turnId`: the turn to go to. */
  | { kind: 'session'; sessionId: string; turnId?: string }
  | { kind: 'new' }
  | { kind: 'approvals'; decisionId: string | null }
  /** `ruleId`: the rule to show; `sessionId`: whose history alone. */
  | { kind: 'permissions'; ruleId?: string; sessionId?: string }
  /** `add`: the dialog for a new one is open. */
  | { kind: 'schedules'; add?: true }
  | { kind: 'deliveries' }
  | { kind: 'providers'; add?: true }
  | { kind: 'gateway' }
  | { kind: 'usage' }
  | { kind: 'health' }
  /** `part`: what is brought into sight. */
  | { kind: 'settings'; part?: 'mcp' }

export function parseView(hash: string): View {
  const [, first = '', second = '', third = ''] = hash.replace(/^#/, '').split('/')
  switch (first) {
    case 'session':
      if (second === '') return { kind: 'home' }
      return { kind: 'session', sessionId: second, ...(third === '' ? {} : { turnId: third }) }
    case 'approvals':
      return { kind: 'approvals', decisionId: second === '' ? null : second }
    case 'permissions':
      if (second === 'rule' && third !== '') return { kind: 'permissions', ruleId: third }
      if (second === 'session' && third !== '') return { kind: 'permissions', sessionId: third }
      return { kind: 'permissions' }
    case 'schedules':
    case 'providers':
      return second === 'add' ? { kind: first, add: true } : { kind: first }
    case 'settings':
      return second === 'mcp' ? { kind: 'settings', part: 'mcp' } : { kind: 'settings' }
    case 'deliveries':
    case 'new':
    case 'gateway':
    case 'usage':
    case 'health':
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
      return `#/session/${view.sessionId}${view.turnId === undefined ? '' : `/${view.turnId}`}`
    case 'approvals':
      return view.decisionId === null ? '#/approvals' : `#/approvals/${view.decisionId}`
    case 'permissions':
      if (view.ruleId !== undefined) return `#/permissions/rule/${view.ruleId}`
      return view.sessionId === undefined ? '#/permissions' : `#/permissions/session/${view.sessionId}`
    case 'schedules':
    case 'providers':
      return view.add === true ? `#/${view.kind}/add` : `#/${view.kind}`
    case 'settings':
      return view.part === undefined ? '#/settings' : `#/settings/${view.part}`
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
