/** The address of a webhook and its token, as one secret in the credential store: most such addresses are a key themselves. */
import { z } from 'zod'
import { AppError } from '../../shared/errors.ts'
import { createSecret } from '../platform/index.ts'
import type { Log, Secret, SecretRegistry } from '../platform/types.ts'
import type { WebhookEndpoint } from './webhook.ts'

/** From so many characters on, what follows the host is taken for a key and shown nowhere. */
const KEY_LIKE_PATH = 16

const Stored = z.strictObject({ url: z.string(), token: z.string().nullable() })

/** As much of the credential store as is needed. Errors as its own. */
export interface SecretStore {
  available(): Promise<boolean>
  set(ref: string, secret: Secret): Promise<{ applied: boolean }>
  get(ref: string): Promise<Secret | null>
  delete(ref: string): Promise<{ applied: boolean }>
  refs(): Promise<readonly string[] | null>
}

export interface WebhookSecrets {
  /** @throws AppError `credential_store_unavailable`, `credential_store_failed`. */
  put(ref: string, endpoint: WebhookEndpoint): Promise<void>
  /** Null: nothing is stored there. @throws AppError as `put`. */
  get(ref: string): Promise<WebhookEndpoint | null>
  /** Never rejects: what stays is swept at the next start. */
  discard(ref: string): Promise<void>
  /** Removes all that `isNamed` does not know. Never rejects. */
  sweep(isNamed: (ref: string) => boolean): Promise<void>
  /** No log shows them from then on; until they are forgotten or the process ends. */
  dispose(): void
}

export function createWebhookSecrets(deps: { store: SecretStore; secrets: SecretRegistry; log: Log }): WebhookSecrets {
  const { store, secrets, log } = deps
  const registered = new Map<string, Disposable[]>()

  function forget(ref: string): void {
    for (const each of registered.get(ref) ?? []) each[Symbol.dispose]()
    registered.delete(ref)
  }

  function hide(ref: string, { url, secret }: WebhookEndpoint): void {
    if (registered.has(ref)) return
    const { pathname, search } = new URL(url)
    const isKey = pathname.length + search.length >= KEY_LIKE_PATH
    registered.set(ref, [
      ...(isKey ? [secrets.add(createSecret(url), 'webhook address')] : []),
      ...(secret === null ? [] : [secrets.add(secret, 'webhook token')]),
    ])
  }

  async function discard(ref: string): Promise<void> {
    forget(ref)
    try {
      await store.delete(ref)
    } catch (error) {
      log.warn('The secret of a webhook could not be deleted; the next start tries again.', { error })
    }
  }

  return {
    async put(ref, endpoint) {
      if (!(await store.available())) {
        throw new AppError(
          'credential_store_unavailable',
          'The place where keys are kept takes none right now. Unlock your keychain, then save again.',
        )
      }
      hide(ref, endpoint)
      const stored = { url: endpoint.url, token: endpoint.secret?.reveal('store') ?? null }
      const { applied } = await store.set(ref, createSecret(JSON.stringify(stored)))
      if (applied) return
      throw new AppError('credential_store_failed', 'The address could not be stored. Nothing was changed.')
    },
    async get(ref) {
      const found = await store.get(ref)
      if (found === null) return null
      const parsed = Stored.safeParse(parse(found.reveal('store')))
      if (!parsed.success) {
        throw new AppError(
          'credential_store_failed',
          'What is stored for this webhook cannot be read. Set it up again.',
        )
      }
      const { url, token } = parsed.data
      const endpoint = { url, secret: token === null ? null : createSecret(token) }
      hide(ref, endpoint)
      return endpoint
    },
    discard,
    async sweep(isNamed) {
      try {
        for (const ref of (await store.refs()) ?? []) if (!isNamed(ref)) await discard(ref)
      } catch (error) {
        log.warn('The secrets of webhooks could not be listed.', { error })
      }
    },
    dispose() {
      for (const ref of registered.keys()) forget(ref)
    },
  }
}

/** What is no JSON is undefined: the parser's own error would quote the secret. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
