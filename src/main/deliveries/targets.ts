/** The places that a person set up: kept in the settings, their secrets in the credential store. */
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { ParsedTarget, TargetView } from '../../shared/bridge/index.ts'
import { AppError, assertNever } from '../../shared/errors.ts'
import type { DeliveryTargetSetting } from '../../shared/settings.ts'
import { createSecret } from '../platform/index.ts'
import type { Ids, Settings } from '../platform/types.ts'
import type { WebhookEndpoint } from './webhook.ts'
import type { WebhookSecrets } from './webhook-secrets.ts'

const MAX_TARGETS = 8

export interface Targets {
  /** As they stand in the settings. */
  all(): readonly DeliveryTargetSetting[]
  views(): Promise<TargetView[]>
  view(target: DeliveryTargetSetting): Promise<TargetView>
  /** @throws AppError `delivery_target_not_found`. */
  find(id: string): DeliveryTargetSetting
  /**
   * Without an id a new one.
   * @throws AppError `delivery_target_not_found`, `input_invalid`, `credential_store_unavailable`, `credential_store_failed`,
   * and as `Settings.set`.
   */
  save(id: string | null, input: ParsedTarget): Promise<DeliveryTargetSetting>
  /** False: there was none. */
  delete(id: string): Promise<boolean>
  endpointOf(id: string): Promise<WebhookEndpoint | null>
  idempotencyHeaderOf(id: string): string | null
  folderOf(id: string): string | null
  /** Removes secrets that no place names: a crash left them. Never rejects. */
  sweep(): Promise<void>
}

export function createTargets(deps: {
  ids: Pick<Ids, 'next'>
  settings: Pick<Settings, 'get' | 'set'>
  secrets: WebhookSecrets
  /** Why no notification of the system can be shown; null: one can. */
  notificationsUnavailable: () => string | null
}): Targets {
  const { ids, settings, secrets } = deps
  let turn: Promise<unknown> = Promise.resolve()

  /** One change at a time: each reads the list that the one before wrote. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  const all = (): readonly DeliveryTargetSetting[] => settings.get('deliveryTargets')
  const known = (id: string): DeliveryTargetSetting | null => all().find((target) => target.id === id) ?? null

  function find(id: string): DeliveryTargetSetting {
    const found = known(id)
    if (found !== null) return found
    throw new AppError('delivery_target_not_found', 'This place is not set up any more.', { detail: id })
  }

  async function write(next: readonly DeliveryTargetSetting[]): Promise<void> {
    await settings.set('deliveryTargets', next)
  }

  async function save(id: string | null, input: ParsedTarget): Promise<DeliveryTargetSetting> {
    const before = id === null ? null : find(id)
    if (before !== null && before.kind !== input.kind) throw invalid('A place stays of the kind that it was made as.')
    if (before === null && all().length >= MAX_TARGETS) {
      throw invalid(`There are ${MAX_TARGETS} places already. Delete one first.`)
    }
    if (all().some((each) => each.id !== id && each.name.toLowerCase() === input.name.toLowerCase())) {
      throw invalid('Another place has this name.')
    }
    const head = { id: id ?? ids.next(), name: input.name, enabled: input.enabled, runs: input.runs }
    const put = (target: DeliveryTargetSetting): Promise<void> =>
      write(before === null ? [...all(), target] : all().map((each) => (each.id === target.id ? target : each)))
    switch (input.kind) {
      case 'os_notification': {
        const target = { ...head, kind: input.kind }
        await put(target)
        return target
      }
      case 'file_drop': {
        if (!isAbsolute(input.folder) || !(await isFolder(input.folder))) {
          throw invalid('The folder must be there, and be named from the root on.', input.folder)
        }
        const target = { ...head, kind: input.kind, folder: input.folder }
        await put(target)
        return target
      }
      case 'webhook':
        return saveWebhook(head, input, before?.kind === 'webhook' ? before : null, put)
      default:
        return assertNever(input)
    }
  }

  async function saveWebhook(
    head: Pick<DeliveryTargetSetting, 'id' | 'name' | 'enabled' | 'runs'>,
    input: Extract<ParsedTarget, { kind: 'webhook' }>,
    before: Webhook | null,
    put: (target: DeliveryTargetSetting) => Promise<void>,
  ): Promise<DeliveryTargetSetting> {
    const { idempotencyHeader } = input
    if (before !== null && input.url === undefined && input.token === undefined) {
      const target = { ...before, ...head, idempotencyHeader }
      await put(target)
      return target
    }
    const stored = before === null ? null : await secrets.get(refOf(before))
    const address = input.url ?? stored?.url
    if (address === undefined) throw invalid('Enter the address that answers are sent to.')
    const url = checkUrl(address)
    const moved = stored !== null && new URL(stored.url).origin !== url.origin
    if (moved && stored.secret !== null && input.token === undefined) {
      throw invalid('The token was for another address: enter it again, or remove it.')
    }
    const token = input.token === undefined ? (stored?.secret ?? null) : tokenOf(input.token)
    const target: Webhook = {
      ...head,
      kind: 'webhook',
      origin: url.origin,
      hasToken: token !== null,
      idempotencyHeader,
      secretRev: (before?.secretRev ?? 0) + 1,
    }
    // To a slot that nothing names yet: a crash leaves the place as it was, and the slot to the next start's sweep.
    await secrets.put(refOf(target), { url: url.href, secret: token })
    try {
      await put(target)
    } catch (error) {
      await secrets.discard(refOf(target))
      throw error
    }
    if (before !== null) await secrets.discard(refOf(before))
    return target
  }

  async function unusable(target: DeliveryTargetSetting): Promise<string | null> {
    if (target.kind === 'os_notification') return deps.notificationsUnavailable()
    if (target.kind === 'file_drop' && !(await isFolder(target.folder))) return 'The folder is not there.'
    return null
  }

  async function view(target: DeliveryTargetSetting): Promise<TargetView> {
    const webhook = target.kind === 'webhook' ? target : null
    const { id, kind, name, enabled, runs } = target
    return {
      id,
      kind,
      name,
      enabled,
      runs,
      folder: target.kind === 'file_drop' ? target.folder : null,
      address: webhook?.origin ?? null,
      hasToken: webhook?.hasToken ?? false,
      plaintext: webhook !== null && isPlaintext(webhook.origin),
      idempotencyHeader: webhook?.idempotencyHeader ?? null,
      unusable: await unusable(target),
    }
  }

  return {
    all,
    views: () => Promise.all(all().map(view)),
    view,
    find,
    save: (id, input) => inTurn(() => save(id, input)),
    delete: (id) =>
      inTurn(async () => {
        const target = known(id)
        if (target === null) return false
        await write(all().filter((each) => each.id !== id))
        if (target.kind === 'webhook') await secrets.discard(refOf(target))
        return true
      }),
    async endpointOf(id) {
      const target = known(id)
      return target?.kind === 'webhook' ? secrets.get(refOf(target)) : null
    },
    idempotencyHeaderOf(id) {
      const target = known(id)
      return target?.kind === 'webhook' ? target.idempotencyHeader : null
    },
    folderOf(id) {
      const target = known(id)
      return target?.kind === 'file_drop' ? target.folder : null
    },
    sweep: () =>
      inTurn(() => secrets.sweep((ref) => all().some((each) => each.kind === 'webhook' && refOf(each) === ref))),
  }
}

type Webhook = Extract<DeliveryTargetSetting, { kind: 'webhook' }>

const refOf = ({ id, secretRev }: Webhook): string => `delivery:${id}:${secretRev}`

const tokenOf = (token: string | null) => (token === null ? null : createSecret(token))

function checkUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw invalid('The address begins with https:// or http://.')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('Leave the login out of the address: enter it as the token.')
  }
  return url
}

function isPlaintext(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

function invalid(message: string, detail?: string): AppError {
  return new AppError('input_invalid', message, detail === undefined ? {} : { detail })
}
