/**
 * Switches all running sessions of a client, and its default, to another connection. The catalog is a file and the
 * sessions are rows: a row says what is under way, so that a crash between the two is carried on at the next start.
 */
import { z } from 'zod'
import { AppError } from '../../shared/errors.ts'
import { Actor, ClientId, RuntimeChoice } from '../../shared/vocabulary.ts'
import type { Clock, Ids, Log, PersistOutcome, Store, Tx } from '../platform/index.ts'
import type { ClientDefault, Providers, RuntimeEffect, SwitchStep } from '../providers/index.ts'
import type { Runtime } from '../runtime/index.ts'
import type { AgentExecutor } from './executor.ts'

export interface SwitchRequest {
  client: ClientId
  connectionId: string
  /** The catalog's, as its author saw it. */
  expectedRevision: number
  allowHistoryStrip: boolean
  by: Actor
}

export interface ProviderSwitch {
  /** Changes nothing. @throws AppError `model_profile_not_found`, `model_profile_unsupported`, `upstream_model_required`. */
  preview(
    client: ClientId,
    connectionId: string,
    options: { allowHistoryStrip: boolean },
  ): { target: ClientDefault; steps: readonly SwitchStep[] }
  /** Those refused stay where they are, and are named. @throws AppError as `preview`, `model_profile_conflict`. */
  run(request: SwitchRequest, signal?: AbortSignal): Promise<{ steps: readonly SwitchStep[]; outcome: PersistOutcome }>
  /** Carries on what an earlier host had begun: forward once the catalog was written, else dropped. */
  recover(): Promise<void>
}

const Row = z.object({
  id: z.string(),
  client: ClientId,
  target: z.string(),
  steps: z.string(),
  allow_strip: z.union([z.literal(0), z.literal(1)]),
  by: z.string(),
})
const Target = z.strictObject({ connectionId: z.string(), modelId: z.string() })
const Steps = z.array(z.strictObject({ sessionId: z.string(), from: RuntimeChoice, to: RuntimeChoice }))
type Planned = z.infer<typeof Steps>[number]

export function createProviderSwitch(deps: {
  clock: Clock
  ids: Ids
  log: Log
  store: Store
  providers: Providers
  executor: Pick<AgentExecutor, 'choiceMoved'>
  runtime: () => Runtime
}): ProviderSwitch {
  const { store, providers, executor } = deps
  const insert = store.db.prepare(
    `INSERT INTO provider_switches (id, client, target, steps, allow_strip, by, created_at)
     VALUES (@id, @client, @target, @steps, @allowStrip, @by, @createdAt)`,
  )
  const remove = store.db.prepare('DELETE FROM provider_switches WHERE id = ?')
  const pending = store.db.prepare('SELECT * FROM provider_switches ORDER BY id')

  const preview: ProviderSwitch['preview'] = (client, connectionId, options) => ({
    target: providers.switchTarget(client, connectionId),
    steps: providers.previewSwitch(client, connectionId, options),
  })

  interface Batch {
    id: string
    client: ClientId
    steps: readonly Planned[]
    allowHistoryStrip: boolean
    by: Actor
  }

  /** Every session in one commit, together with the end of the record. The gateway goes along. */
  async function apply(batch: Batch, connectionId: string): Promise<readonly SwitchStep[]> {
    await providers
      .gateway()
      .follow(batch.client, connectionId)
      .catch((error: unknown) => deps.log.warn('the gateway did not follow a switch of Providers', { error }))
    return store.writeTx((tx) => {
      const done = batch.steps.map((step): SwitchStep => ({ ...step, effect: move(batch, step, tx) }))
      remove.run(batch.id)
      return done
    })
  }

  function move({ client, allowHistoryStrip, by }: Batch, { sessionId, from, to }: Planned, tx: Tx): RuntimeEffect {
    try {
      const session = deps.runtime().sessions.get(sessionId)
      // Somebody chose for this session meanwhile: their choice stands.
      if (session.choice.connectionId !== from.connectionId || session.choice.modelId !== from.modelId) {
        return { kind: 'refused', code: 'config_conflict' }
      }
      const effect = providers.changeRuntime({ sessionId, client, choice: to, allowHistoryStrip }, tx)
      if (effect.kind === 'refused') return effect
      deps.runtime().config.applyChoice({ sessionId, choice: to, expectedRev: session.rev, by }, tx)
      if (effect.kind === 'now') store.afterCommit(tx, () => executor.choiceMoved(sessionId, to))
      return effect
    } catch (error) {
      if (error instanceof AppError) return { kind: 'refused', code: error.code }
      throw error
    }
  }

  return {
    preview,
    async run({ client, connectionId, expectedRevision, allowHistoryStrip, by }, signal) {
      const { target, steps } = preview(client, connectionId, { allowHistoryStrip })
      const batch: Batch = {
        id: deps.ids.next(),
        client,
        steps: steps.map(({ sessionId, from, to }) => ({ sessionId, from, to })),
        allowHistoryStrip,
        by,
      }
      await store.writeTx(
        () =>
          void insert.run({
            id: batch.id,
            client,
            target: JSON.stringify({ connectionId: target.connectionId, modelId: target.modelId }),
            steps: JSON.stringify(batch.steps),
            allowStrip: allowHistoryStrip ? 1 : 0,
            by: JSON.stringify(by),
            createdAt: deps.clock.nowMs(),
          }),
        signal,
      )
      let outcome: PersistOutcome
      try {
        outcome = (await providers.setDefault(client, target, expectedRevision)).outcome
      } catch (error) {
        await store.writeTx(() => void remove.run(batch.id))
        throw error
      }
      return { steps: await apply(batch, connectionId), outcome }
    },
    async recover() {
      for (const row of pending.all()) {
        const batch = parse(row)
        const defaults = providers.failure() === null ? (await providers.catalog()).defaults : null
        if (batch === null) {
          deps.log.error('a switch of Providers that was under way cannot be read; it is dropped')
          const id = z.object({ id: z.string() }).parse(row).id
          await store.writeTx(() => void remove.run(id))
        } else if (defaults !== null) {
          const recorded = defaults[batch.client]
          const written = recorded?.connectionId === batch.target.connectionId
          if (written) await apply(batch, batch.target.connectionId)
          else await store.writeTx(() => void remove.run(batch.id))
          deps.log.info('a switch of Providers that was under way is settled', { forward: written })
        }
      }
    },
  }

  function parse(value: unknown): (Batch & { target: ClientDefault }) | null {
    try {
      const row = Row.parse(value)
      return {
        id: row.id,
        client: row.client,
        target: Target.parse(JSON.parse(row.target)),
        steps: Steps.parse(JSON.parse(row.steps)),
        allowHistoryStrip: row.allow_strip === 1,
        by: Actor.parse(JSON.parse(row.by)),
      }
    } catch {
      return null
    }
  }
}
