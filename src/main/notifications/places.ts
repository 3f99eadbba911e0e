/** Where in the interface a click of the tray or of a notification leads: the part of the address after `#`. */
export type Place =
  | { kind: 'home' }
  | { kind: 'approvals'; decisionId: string | null }
  | { kind: 'session'; sessionId: string }
  | { kind: 'gateway' }
  | { kind: 'health' }

export function placeHash(place: Place): string {
  switch (place.kind) {
    case 'approvals':
      return place.decisionId === null ? '#/approvals' : `#/approvals/${place.decisionId}`
    case 'session':
      return `#/session/${place.sessionId}`
    case 'gateway':
      return '#/gateway'
    case 'health':
      return '#/health'
    default:
      return '#/'
  }
}
