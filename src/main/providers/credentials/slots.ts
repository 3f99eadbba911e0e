import { AppError } from '../../../shared/errors.ts'
import type { SecretSlots } from '../types.ts'
import type { Keys } from './keys.ts'

/** What begins with `prefix` and a colon, and nothing else: a name from elsewhere never reaches a connection's key. */
export function createSlots(keys: () => Keys, prefix: string): SecretSlots {
  const own = (ref: string): string => {
    if (ref.startsWith(`${prefix}:`)) return ref
    throw new AppError('internal', 'A secret was asked for under a name that is not its own.', { detail: prefix })
  }
  return {
    available: () => keys().available(),
    set: async (ref, secret) => keys().set(own(ref), secret),
    get: async (ref) => keys().get(own(ref)),
    delete: async (ref) => keys().delete(own(ref)),
    refs: async () => (await keys().survey())?.filter((ref) => ref.startsWith(`${prefix}:`)) ?? null,
  }
}
