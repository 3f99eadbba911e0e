/** Model and effort: what the next turn is asked for, and what the thread last said it runs with. */
import { z } from 'zod'
import type { Effort } from '../../../../shared/vocabulary.ts'
import type { Calls } from './calls.ts'
import { codexEffort, effortOf } from './launch.ts'

const ModelsReply = z.object({
  data: z.array(z.object({ model: z.string(), defaultReasoningEffort: z.string() })),
})

export interface RuntimeChoice {
  /** For `turn/start`. */
  override(): { model?: string; effort?: string }
  told(model: string | null | undefined, effort: string | null | undefined): void
  current(): { modelId: string | null; effort: Effort | null }
  set(choice: { modelId: string; effort: Effort }, signal: AbortSignal): Promise<'next_turn'>
}

export function createRuntimeChoice(calls: Pick<Calls, 'read'>): RuntimeChoice {
  let model: string | null = null
  let effort: string | null = null
  let next: { model?: string; effort?: string } = {}

  /** An effort stays for all later turns, so the model's own default has to be asked for by name. */
  async function defaultEffort(modelId: string, signal: AbortSignal): Promise<string | null> {
    const { data } = await calls.read('model/list', { includeHidden: true }, ModelsReply, signal)
    return data.find((entry) => entry.model === modelId)?.defaultReasoningEffort ?? null
  }

  return {
    override: () => next,
    told(toldModel, toldEffort) {
      model = toldModel ?? model
      effort = toldEffort ?? null
    },
    current: () => ({ modelId: next.model ?? model, effort: effortOf(next.effort ?? effort) }),
    async set(choice, signal) {
      const wanted = codexEffort(choice.effort)
      const known = wanted ?? (effort === null ? null : await defaultEffort(choice.modelId, signal))
      next = { model: choice.modelId, ...(known === null ? {} : { effort: known }) }
      return 'next_turn'
    },
  }
}
