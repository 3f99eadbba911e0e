/** Token counts of a turn, summed over its steps. What no upstream said is never guessed. */
import type { Usage } from '@agentclientprotocol/sdk/unstable'
import type { LanguageModelUsage } from 'ai'

export interface UsageCount {
  add(usage: LanguageModelUsage): void
  /** Null: no step told any. `inputTokens` are the uncached ones. */
  total(): Usage | null
  /** Tokens in the window after the newest step, null if unknown. */
  contextUsed(): number | null
}

export function createUsageCount(): UsageCount {
  let known = false
  let contextUsed: number | null = null
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  return {
    add(usage) {
      const { inputTokens, outputTokens, inputTokenDetails: input, outputTokenDetails: output } = usage
      if (inputTokens === undefined && outputTokens === undefined) return
      known = true
      const read = input.cacheReadTokens ?? 0
      const written = input.cacheWriteTokens ?? 0
      sum.input += input.noCacheTokens ?? Math.max(0, (inputTokens ?? 0) - read - written)
      sum.cacheRead += read
      sum.cacheWrite += written
      sum.output += outputTokens ?? 0
      sum.reasoning += output.reasoningTokens ?? 0
      contextUsed = (inputTokens ?? 0) + (outputTokens ?? 0)
    },
    total() {
      if (!known) return null
      return {
        totalTokens: sum.input + sum.cacheRead + sum.cacheWrite + sum.output,
        inputTokens: sum.input,
        outputTokens: sum.output,
        thoughtTokens: sum.reasoning,
        cachedReadTokens: sum.cacheRead,
        cachedWriteTokens: sum.cacheWrite,
      }
    },
    contextUsed: () => contextUsed,
  }
}
