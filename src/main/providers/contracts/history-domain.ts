import { createHash } from 'node:crypto'
import type { ClientId, PresetId, RouteProtocol } from '../types.ts'

/**
 * Which Provider and model can read the opaque items of a history: encrypted reasoning, signed thinking. Two bindings of
 * one domain can take over from each other as they are.
 */
export function historyDomain(of: {
  protocol: RouteProtocol
  preset: PresetId
  upstreamBaseUrl: string | null
  upstreamModel: string
  client: ClientId
}): string {
  const hash = createHash('sha256')
  for (const part of [of.protocol, of.preset, of.upstreamBaseUrl ?? '', of.upstreamModel, of.client]) {
    const bytes = Buffer.from(part)
    // Length-prefixed, so that no two lists of parts make one string.
    hash.update(`${bytes.length}:`).update(bytes)
  }
  return `hd1:${hash.digest('base64url').slice(0, 22)}`
}

/** What the agent's own login leaves in a history: never seen by us, so it may hold anything. */
export function ownLoginDomain(client: ClientId): string {
  return `own:${client}`
}
