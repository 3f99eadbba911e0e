import { createHash } from 'node:crypto'
import { headBytes } from '../events/cut.ts'
import type { ArtifactRow } from '../store/artifacts.ts'
import type { DeliveryCapability, DeliveryTarget, OperationKind } from './types.ts'

const MAX_PAYLOAD_BYTES = 65_536
const ELLIPSIS = '…'
/** An unknown transport carries text until it is there to say more. */
const TEXT_ONLY: DeliveryCapability = { text: true, image: false, file: false, video: false }

export interface DeliverySource {
  sessionId: string
  runId: string
  text: string
  /** In the order of their publication. */
  artifacts: readonly Pick<ArtifactRow, 'id' | 'kind' | 'filename'>[]
  targets: readonly DeliveryTarget[]
  capabilityOf: (transport: string) => DeliveryCapability | null
}

export interface PlannedDelivery {
  id: string
  sessionId: string
  runId: string
  target: DeliveryTarget
  operations: PlannedOperation[]
}

export interface PlannedOperation {
  id: string
  key: string
  kind: OperationKind
  sequence: number
  dependsOn: string | null
  artifactId: string | null
  payload: string
  /** Of all that the operation says, so that another plan under the same id is noticed. */
  digest: string
}

/**
 * What has to be sent where, for one run. Pure: the same source gives the same ids and bytes in whatever process. A target
 * that can be told nothing has no delivery, and one that is named twice has one.
 */
export function planDelivery(source: DeliverySource): PlannedDelivery[] {
  const { sessionId, runId } = source
  const planned = new Map<string, PlannedDelivery>()
  for (const target of source.targets) {
    const id = `dlv_${hashOf('delivery', sessionId, runId, target.transport, target.targetId)}`
    const operations = planned.has(id) ? [] : operationsOf(id, source, target)
    if (operations.length > 0) planned.set(id, { id, sessionId, runId, target, operations })
  }
  return [...planned.values()]
}

interface Step {
  key: string
  kind: OperationKind
  artifactId: string | null
  payload: string
}

function operationsOf(deliveryId: string, source: DeliverySource, target: DeliveryTarget): PlannedOperation[] {
  const { text, artifacts, capabilityOf } = source
  const capability = capabilityOf(target.transport) ?? TEXT_ONLY
  const steps: Step[] = []
  if (text.trim() !== '' && capability.text) {
    steps.push({ key: 'text', kind: 'send_text', artifactId: null, payload: fit(text) })
  }
  const left: string[] = []
  for (const { id, kind, filename } of artifacts) {
    if (!capability[kind === 'audio' ? 'file' : kind]) {
      left.push(filename)
      continue
    }
    steps.push({ key: `upload:${id}`, kind: 'upload_artifact', artifactId: id, payload: '' })
    steps.push({ key: `send:${id}`, kind: 'send_artifact', artifactId: id, payload: '' })
  }
  if (left.length > 0 && capability.text) {
    const payload = fit(`These files could not be sent here: ${left.join(', ')}`)
    steps.push({ key: 'fallback', kind: 'send_fallback_text', artifactId: null, payload })
  }
  const idOf = ({ key }: Step): string => `dlo_${hashOf(deliveryId, key)}`
  return steps.map((step, index) => {
    const before = steps[index - 1]
    const sequence = index + 1
    const dependsOn = before === undefined ? null : idOf(before)
    const digest = hashOf(step.kind, String(sequence), dependsOn ?? '', step.artifactId ?? '', step.payload)
    return { ...step, id: idOf(step), sequence, dependsOn, digest }
  })
}

function fit(text: string): string {
  if (Buffer.byteLength(text) <= MAX_PAYLOAD_BYTES) return text
  return headBytes(text, MAX_PAYLOAD_BYTES - Buffer.byteLength(ELLIPSIS)) + ELLIPSIS
}

/** 32 hex digits. Of a list, so that no two lists run into each other. */
function hashOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
