/** A route's binding as it is stored, and the frozen copy that the Router reads. Neither can be serialised by accident. */
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import { ClientId, Effort } from '../../../shared/vocabulary.ts'
import { PresetId } from '../catalog/catalog-file.ts'
import type { VerifiedContract } from '../contracts/contract.ts'
import { authOf } from '../presets.ts'
import type { RouteBinding as RouterBinding } from '../router/types.ts'
import type { CredentialRef } from '../types.ts'
import type { ActivationEvent } from './history.ts'

/** What the JSON column holds: references only. Unknown fields are refused, so nothing is lost on a rewrite. */
export const BindingJson = z.strictObject({
  client: ClientId,
  connectionName: z.string().max(256),
  preset: PresetId,
  routeProtocol: z.enum(['responses', 'anthropic_messages']),
  provenance: z.enum(['codex_catalog', 'builtin_catalog', 'configured_compatibility', 'opaque_passthrough']),
  clientModel: z.string().min(1).max(256),
  upstreamModel: z.string().min(1).max(256),
  smallModel: z.string().max(256).nullable(),
  effort: Effort,
  efforts: z.array(Effort).nullable(),
  effortDefault: Effort.nullable(),
  upstreamBaseUrl: z.string().max(2_048).nullable(),
  authMode: z.enum(['none', 'bearer', 'x_api_key']),
  credentialRef: z
    .custom<CredentialRef>((value) => typeof value === 'string' && value.startsWith('provider:'))
    .nullable(),
  credentialEnv: z.string().max(128).nullable(),
  historyDomain: z.string().max(64),
  /** `strip`: what only another domain can read is cut from every request of this binding. */
  historyPortability: z.enum(['keep', 'strip']),
  catalogRevision: z.int().nonnegative(),
})
export type BindingJson = z.infer<typeof BindingJson>

/** One row of `routes`. */
export interface Route {
  readonly workerId: string
  readonly sessionId: string
  readonly digest: string
  readonly connectionId: string
  readonly generation: number
  readonly port: number
  readonly binding: Readonly<BindingJson>
  /** What it was bound to at first. */
  readonly launched: Readonly<BindingJson>
  /** What it was moved to since, newest last. */
  readonly history: readonly ActivationEvent[]
  readonly createdAt: number
}

export function bindingOf(
  contract: VerifiedContract,
  of: { catalogRevision: number; historyPortability: 'keep' | 'strip' },
): BindingJson {
  const { connection } = contract
  return {
    client: connection.client,
    connectionName: connection.name,
    preset: connection.preset,
    routeProtocol: contract.routeProtocol,
    provenance: contract.provenance,
    clientModel: contract.clientModel,
    upstreamModel: contract.upstreamModel,
    smallModel: connection.smallModelId ?? null,
    effort: contract.effort,
    efforts: contract.efforts === null ? null : [...contract.efforts],
    effortDefault: contract.effortDefault,
    upstreamBaseUrl: contract.upstreamBaseUrl,
    authMode: authOf(connection),
    credentialRef: connection.credentialRef ?? null,
    credentialEnv: connection.credentialEnv ?? null,
    historyDomain: contract.historyDomain,
    historyPortability: of.historyPortability,
    catalogRevision: of.catalogRevision,
  }
}

/** `opaque`: the session's history may hold items that only one domain can read. */
export function toRouterBinding(route: Route, opaque: boolean): RouterBinding {
  const { binding } = route
  return notWire({
    routeDigest: route.digest,
    sessionId: route.sessionId,
    client: binding.client,
    connectionId: route.connectionId,
    preset: binding.preset,
    providerLabel: binding.connectionName,
    routeProtocol: binding.routeProtocol,
    clientModel: binding.clientModel,
    upstreamModel: binding.upstreamModel,
    smallModel: binding.smallModel,
    effort: binding.effort,
    efforts: binding.efforts,
    effortDefault: binding.effortDefault,
    authMode: binding.authMode,
    historyState: opaque ? 'may_contain_opaque' : 'empty',
    historyPortability: binding.historyPortability === 'strip' ? 'strip_opaque_provider_state' : null,
    generation: route.generation,
  })
}

/** Freezes an internal record and makes `JSON.stringify` of it a loud error: it must never reach a window or a log. */
export function notWire<T extends object>(record: T): Readonly<T> {
  Object.defineProperty(record, 'toJSON', {
    enumerable: false,
    value: () => {
      throw new AppError('internal_not_wire', 'An internal record was about to be sent.')
    },
  })
  return Object.freeze(record)
}
