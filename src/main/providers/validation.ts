/** The rules of a connection's fields. Each refusal names the field and what it may be. */
import { AppError } from '../../shared/errors.ts'
import type { Secret } from '../platform/types.ts'
import { isCredential } from './credentials/hint.ts'
import { addressOf, authOf, fieldsFor, presetOf, protocolOf } from './presets.ts'
import { checkBaseUrl } from './upstream/index.ts'
import type { Catalog, ConnectionInput, ProviderConnection } from './types.ts'

const NAME_CODE_POINTS = 64
const MODEL_ID = /^[A-Za-z0-9@~][A-Za-z0-9._:@+~[\]-]*(?:\/[A-Za-z0-9@~][A-Za-z0-9._:@+~[\]-]*){0,7}$/
/** What leaves a mark: letters that are drawn as nothing do not. */
const SHOWN = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const URL_CHARS = 2_048

export function isModelId(id: string): boolean {
  return id.length <= 256 && MODEL_ID.test(id) && !id.includes('..')
}

export function isEnvName(name: string): boolean {
  return ENV_NAME.test(name)
}

/** One spelling per name: two that a person cannot tell apart are the same. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

export function checkName(name: string): void {
  const fine =
    name === name.trim() &&
    name.length > 0 &&
    Array.from(name).length <= NAME_CODE_POINTS &&
    !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name) &&
    SHOWN.test(name)
  if (!fine)
    throw invalid('name', 'A name has 1 to 64 characters, none of them a control character, and no space at its ends.')
}

/**
 * The stored form of an address: as parsed, trailing slashes removed.
 * @throws AppError `model_profile_invalid`, `upstream_address_blocked`.
 */
export function normaliseBaseUrl(text: string, ownPorts: ReadonlySet<number>): string {
  if (text.length > URL_CHARS) throw invalid('baseUrl', 'This address is too long.')
  return checkBaseUrl(text, ownPorts).href.replace(/\/+$/, '')
}

export function checkKey(key: Secret): void {
  if (!isCredential(key.reveal('store'))) {
    throw invalid('key', 'A key has 8 to 2048 printable characters and no spaces. Paste it again from its Provider.')
  }
}

/** The row that the input asks for. What a preset owns and what a client lacks is refused, not dropped. */
export function checkInput(
  input: ConnectionInput,
  context: {
    id: string
    key: Secret | null
    existing: ProviderConnection | null
    allowedEnv: ReadonlySet<string>
    ownPorts: ReadonlySet<number>
  },
): ProviderConnection {
  const { existing, key } = context
  checkName(input.name)
  const preset = presetOf(input.preset)
  if (!preset.clients.includes(input.client) || protocolOf(input) === null) {
    throw new AppError('model_profile_unsupported', `${preset.label} cannot serve this agent.`, {
      detail: input.client,
    })
  }
  checkFieldsAreFree(input)
  if (existing !== null && existing.client !== input.client) {
    throw invalid('client', 'A Provider stays with its agent. Make another one for the other agent.')
  }
  const row: ProviderConnection = {
    id: context.id,
    name: input.name,
    client: input.client,
    preset: input.preset,
    ...(input.baseUrl === undefined ? {} : { baseUrl: normaliseBaseUrl(input.baseUrl, context.ownPorts) }),
    ...(input.manualModelId === undefined ? {} : { manualModelId: checkedModel('manualModelId', input.manualModelId) }),
    ...(input.authMode === undefined ? {} : { authMode: input.authMode }),
    ...(input.protocol === undefined ? {} : { protocol: input.protocol }),
    ...(input.credentialEnv === undefined
      ? {}
      : { credentialEnv: checkedEnv(input.credentialEnv, context.allowedEnv) }),
    ...(input.smallModelId === undefined ? {} : { smallModelId: checkedModel('smallModelId', input.smallModelId) }),
    ...(input.tunnelWebSocket === undefined ? {} : { tunnelWebSocket: input.tunnelWebSocket }),
    // A connection that goes over to no authentication leaves its key behind, and the edit deletes it.
    ...(existing?.credentialRef === undefined || authOf(input) === 'none'
      ? {}
      : { credentialRef: existing.credentialRef }),
  }
  if (row.preset === 'custom' && row.baseUrl === undefined) throw invalid('baseUrl', 'Give the address of the API.')
  checkAuth(row, key)
  return row
}

function checkFieldsAreFree(input: ConnectionInput): void {
  const free = new Set<string>(fieldsFor(presetOf(input.preset), input.client))
  for (const field of Object.keys(input)) {
    if (field === 'id' || field === 'preset' || free.has(field)) continue
    if (Reflect.get(input, field) !== undefined) throw invalid(field, 'This field is not one of this kind of Provider.')
  }
}

function checkAuth(row: ProviderConnection, key: Secret | null): void {
  if (authOf(row) === 'none') {
    if (key !== null || row.credentialEnv !== undefined) {
      throw invalid('authMode', 'A Provider without authentication takes no key.')
    }
    return
  }
  if (key !== null) checkKey(key)
}

/** Who can edit a row alone cannot send its stored key elsewhere: a new origin brings the key again. */
export function checkOriginKeepsKey(row: ProviderConnection, existing: ProviderConnection, key: Secret | null): void {
  if (key !== null || row.credentialRef === undefined || originOf(row) === originOf(existing)) return
  throw invalid('key', 'The address moves to another host: enter the key again.')
}

export function checkUniqueName(catalog: Catalog, row: ProviderConnection): void {
  const folded = foldName(row.name)
  if (!catalog.connections.some((other) => other.id !== row.id && foldName(other.name) === folded)) return
  throw new AppError('model_profile_conflict', 'Another Provider has this name already. Choose another name.', {
    detail: row.name,
    retryable: false,
  })
}

export function invalid(field: string, message: string): AppError {
  return new AppError('model_profile_invalid', message, { detail: field, data: { field } })
}

function originOf(connection: ProviderConnection): string {
  const address = addressOf(connection)
  return address === null ? connection.preset : new URL(address).origin
}

function checkedModel(field: string, id: string): string {
  if (!isModelId(id))
    throw invalid(field, 'This is not a model id: letters, digits and ._:@+~[]- in parts joined by "/".')
  return id
}

function checkedEnv(name: string, allowed: ReadonlySet<string>): string {
  if (isEnvName(name) && allowed.has(name)) return name
  throw invalid(
    'credentialEnv',
    'Only a variable that the host names in WHEELHOUSE_CREDENTIAL_ENV when it starts can hold a key.',
  )
}
