/** What a route was moved to since its worker was started: only the fields that changed, and no more than a few of them. */
import { z } from 'zod'
import type { BindingJson, Route } from './binding.ts'

const MAX_EVENTS = 64

const Delta = z.record(z.string(), z.unknown())
const Activation = z.strictObject({
  generation: z.int().positive(),
  at: z.int(),
  /** The history was cut from here on. */
  degradation: z.literal('strip_opaque_provider_state').optional(),
  from: Delta,
  to: Delta,
})
export type ActivationEvent = z.infer<typeof Activation>
export const History = z.array(Activation).max(MAX_EVENTS)

interface Pointed {
  readonly connectionId: string
  readonly binding: Readonly<BindingJson>
}

/** The history with this move as its newest entry; the oldest ones go. */
export function withChange(
  before: Pick<Route, 'generation' | 'history'> & Pointed,
  to: Pointed,
  atMs: number,
): readonly ActivationEvent[] {
  const fields = (of: Pointed): Record<string, unknown> => ({ ...of.binding, connectionId: of.connectionId })
  const [old, next] = [fields(before), fields(to)]
  const changed = Object.keys(next).filter((key) => JSON.stringify(old[key]) !== JSON.stringify(next[key]))
  const pick = (of: Record<string, unknown>) => Object.fromEntries(changed.map((key) => [key, of[key]]))
  const strips = before.binding.historyPortability === 'keep' && to.binding.historyPortability === 'strip'
  const event: ActivationEvent = {
    generation: before.generation + 1,
    at: atMs,
    ...(strips ? { degradation: 'strip_opaque_provider_state' as const } : {}),
    from: pick(old),
    to: pick(next),
  }
  return [...before.history, event].slice(-MAX_EVENTS)
}
