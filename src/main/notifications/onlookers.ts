import type { ConnectionInfo } from '../bridge/index.ts'
import type { Place } from './places.ts'

/** Who has a window before them, so that nobody is told of what they see. */
export interface Onlookers {
  anyFocused(): boolean
  /** A focused window stands at one of these places. */
  shows(places: readonly Place[]): boolean
}

/** The windows in browsers, by what each last said of itself. */
export function browserOnlookers(connections: () => readonly ConnectionInfo[]): Onlookers {
  const focused = (): ConnectionInfo[] => connections().filter(({ kind, focused }) => kind === 'browser' && focused)
  return {
    anyFocused: () => focused().length > 0,
    shows: (places) => {
      const shown = new Set(places.map((place) => (place.kind === 'session' ? place.sessionId : place.kind)))
      return focused().some(({ shows }) => shows !== null && shown.has(shows))
    },
  }
}

export const together = (...all: readonly Onlookers[]): Onlookers => ({
  anyFocused: () => all.some((each) => each.anyFocused()),
  shows: (places) => all.some((each) => each.shows(places)),
})
