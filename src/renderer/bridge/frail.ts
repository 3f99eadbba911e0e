/** Changes that were made, but that a power failure may still undo: the host says so in its answer. */
import type { Bridge } from '../../shared/bridge/client.ts'

interface Frail {
  /** First words of procedures: `providers`, `gateway`. */
  areas: ReadonlySet<string>
  listeners: Set<() => void>
}

const known = new WeakMap<Bridge, Frail>()

export function frailOf(bridge: Bridge): Frail {
  const frail = known.get(bridge) ?? { areas: new Set(), listeners: new Set() }
  known.set(bridge, frail)
  return frail
}

/** Remembers what the newest change of its area said; an answer that says nothing of it changes nothing. */
export function noteDurability(bridge: Bridge, procedure: string, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null || !('durable' in answer)) return
  const [area = procedure] = procedure.split('.')
  const frail = frailOf(bridge)
  if (frail.areas.has(area) === (answer.durable === false)) return
  const others = [...frail.areas].filter((each) => each !== area)
  frail.areas = new Set(answer.durable === false ? [...others, area] : others)
  for (const listener of frail.listeners) listener()
}
