import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planDelivery } from '../../../src/main/runtime/deliveries/plan.ts'
import type { DeliverySource } from '../../../src/main/runtime/deliveries/plan.ts'
import { outcomeOf } from '../../../src/main/runtime/deliveries/outcome.ts'
import { createDeliveryTable } from '../../../src/main/runtime/store/deliveries.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

const capability = fc.record({ text: fc.boolean(), image: fc.boolean(), file: fc.boolean(), video: fc.boolean() })
const source: fc.Arbitrary<DeliverySource> = fc
  .record({
    text: fc.string({ unit: 'grapheme', maxLength: 60 }),
    kinds: fc.array(fc.constantFrom('image', 'file', 'audio', 'video'), { maxLength: 5 }),
    targets: fc.array(fc.record({ transport: fc.constantFrom('a', 'b', 'c'), targetId: fc.string({ maxLength: 3 }) }), {
      maxLength: 8,
    }),
    a: capability,
    b: capability,
  })
  .map(({ text, kinds, targets, a, b }) => ({
    sessionId: 's',
    runId: 'r',
    text,
    artifacts: kinds.map((kind, index) => ({ id: `f${index}`, kind, filename: `f${index}.bin` })),
    targets: targets.map((target) => ({ ...target, context: {} })),
    capabilityOf: (transport) => (transport === 'a' ? a : transport === 'b' ? b : null),
  }))

test('planDelivery gives the same ids and bytes for the same run, whoever plans', () => {
  fc.assert(
    fc.property(source, (asked) => {
      expect(planDelivery(structuredCloneOf(asked))).toEqual(planDelivery(asked))
    }),
  )
})

test('planDelivery puts the operations of a place in a line, each after the one before, under ids of its own', () => {
  fc.assert(
    fc.property(source, (asked) => {
      const planned = planDelivery(asked)
      const ids = planned.flatMap(({ id, operations }) => [id, ...operations.map((operation) => operation.id)])
      expect(new Set(ids).size).toBe(ids.length)
      for (const { id, operations } of planned) {
        expect(id).toMatch(/^dlv_[0-9a-f]{32}$/)
        expect(operations.map(({ sequence }) => sequence)).toEqual(operations.map((_, index) => index + 1))
        expect(operations.map(({ dependsOn }) => dependsOn)).toEqual([
          null,
          ...operations.slice(0, -1).map((operation) => operation.id),
        ])
        expect(operations.length).toBeGreaterThan(0)
      }
    }),
  )
})

test('planDelivery sends what a transport carries and names the rest', () => {
  const [delivery] = planDelivery({
    sessionId: 's',
    runId: 'r',
    text: 'done',
    artifacts: [
      { id: 'f1', kind: 'image', filename: 'a.png' },
      { id: 'f2', kind: 'video', filename: 'b.mp4' },
      { id: 'f3', kind: 'audio', filename: 'c.ogg' },
    ],
    targets: [{ transport: 'webhook', targetId: 'x', context: {} }],
    capabilityOf: () => ({ text: true, image: true, file: false, video: false }),
  })
  expect(delivery?.operations.map(({ kind, artifactId, payload }) => [kind, artifactId, payload])).toEqual([
    ['send_text', null, 'done'],
    ['upload_artifact', 'f1', ''],
    ['send_artifact', 'f1', ''],
    ['send_fallback_text', null, 'These files could not be sent here: b.mp4, c.ogg'],
  ])
})

test('planDelivery freezes at most 64 KiB of a text, and no half character', () => {
  const text = '…'.repeat(30_000)
  const [delivery] = planDelivery({
    sessionId: 's',
    runId: 'r',
    text,
    artifacts: [],
    targets: [{ transport: 'a', targetId: '', context: {} }],
    capabilityOf: () => null,
  })
  const payload = delivery?.operations[0]?.payload ?? ''
  expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(65_536)
  expect(Buffer.byteLength(payload)).toBeGreaterThan(65_500)
  expect(payload).not.toContain('\ufffd')
})

test('planning twice inserts once, and another plan under the same ids is a conflict', async () => {
  await using t = await createTestRuntime({
    deps: { deliveries: { transports: [], targets: () => [] } },
  })
  const { runId } = await t.submit()
  await quiet()
  const table = createDeliveryTable(t.store.db)
  const plan = (text: string) =>
    planDelivery({
      sessionId: t.session.id,
      runId,
      text,
      artifacts: [],
      targets: [{ transport: 'a', targetId: '', context: {} }],
      capabilityOf: () => null,
    })
  const write = (text: string) => t.store.writeTx(() => plan(text).map((delivery) => table.plan(delivery, 1)))
  expect(await write('one')).toEqual([true])
  expect(await write('one')).toEqual([false])
  await expect(write('two')).rejects.toMatchObject({ code: 'delivery_plan_conflict' })
  expect(t.count('delivery_intents')).toBe(1)
  expect(t.rows('SELECT payload FROM delivery_operations')).toEqual([{ payload: 'one' }])
})

test('a wait never passes the window, and what the other side asks for replaces it', () => {
  const operation = {
    id: 'o',
    deliveryId: 'd',
    kind: 'send_text' as const,
    sequence: 1,
    dependsOn: null,
    artifactId: null,
    idempotencyKey: 'o',
    payload: '',
    status: 'sending' as const,
    remoteAssetId: 'kept',
    remoteMessageId: '',
    remoteState: {},
    nextAttemptAt: null,
    windowStartedAt: 0,
    failureCode: '',
    owner: 'me',
    epoch: 1,
    leaseExpiresAt: 0,
    updatedAt: 0,
  }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(700_000), fc.option(fc.nat(800_000)), (attempts, at, asked) => {
      const result = { status: 'sending' as const, ...(asked === null ? {} : { nextAttemptAt: asked }) }
      const outcome = outcomeOf({ ...operation, attempts }, result, { at, idempotent: false })
      const due = asked !== null && asked - at >= 1_000 ? asked : at + Math.min(32_000, 1_000 * 2 ** (attempts - 1))
      expect(outcome).toMatchObject(
        due > 600_000
          ? { status: 'failed', failureCode: 'delivery_retries_exhausted', nextAttemptAt: null }
          : { status: 'retry_wait', nextAttemptAt: due },
      )
      expect(outcome.remoteAssetId).toBe('kept')
    }),
  )
})

function structuredCloneOf(asked: DeliverySource): DeliverySource {
  const { capabilityOf, ...rest } = asked
  return { ...structuredClone(rest), capabilityOf }
}
