/** Moves every key to another backend: copied and read back, then the record flips, then the old ones go. */
import { AppError } from '../../../shared/errors.ts'
import type { Log } from '../../platform/types.ts'
import type { CredentialStore } from './types.ts'

/**
 * `flip` records that `to` holds the keys from now on: a crash before it leaves the old store in charge, with copies that
 * the next move replaces; one after it leaves keys that nobody reads.
 * @throws AppError `credential_store_unavailable`, `credential_store_failed`: the old store is whole and in charge.
 */
export async function moveKeys(
  from: CredentialStore,
  to: CredentialStore,
  deps: { flip: () => Promise<void>; log: Log },
): Promise<void> {
  if (!(await to.available())) {
    throw new AppError('credential_store_unavailable', 'The keys cannot be moved there: it does not take any now.')
  }
  const refs = await from.refs()
  const copied: string[] = []
  try {
    for (const ref of refs) {
      const secret = await from.get(ref)
      if (secret === null) continue
      copied.push(ref)
      const outcome = await to.set(ref, secret)
      const back = outcome.applied ? await to.get(ref) : null
      if (back === null || !back.equals(secret)) {
        throw new AppError(
          'credential_store_failed',
          'A key came back otherwise than it was written. Nothing was moved.',
        )
      }
    }
    await deps.flip()
  } catch (error) {
    await drop(to, copied, deps.log)
    throw error
  }
  await drop(from, refs, deps.log)
}

/** What stays behind is a key that nobody reads; said, since it is one all the same. */
async function drop(store: CredentialStore, refs: readonly string[], log: Log): Promise<void> {
  for (const ref of refs) {
    try {
      await store.delete(ref)
    } catch (error) {
      log.warn('a copy of a key stays where it is no longer read', { backend: store.backend, error })
    }
  }
}
