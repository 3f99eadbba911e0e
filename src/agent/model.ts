/** The model behind the loopback router. The SDK is large, so it is loaded after `initialize` was answered, once. */
import type * as Sdk from 'ai'
import type { LanguageModel } from 'ai'

import type { Effort } from '../shared/vocabulary.ts'
import type { AgentEnvironment, ModelRoute } from './environment.ts'

export interface Model {
  sdk: typeof Sdk
  model: LanguageModel
  reasoning: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined
  providerOptions: Record<string, Record<string, boolean | string>>
  /** Marks what a prompt cache may keep; empty for an upstream that needs no marks. */
  cacheMark: Record<string, Record<string, Record<string, string>>>
  contextTokens: number | null
  /** Null: the SDK knows the model's own bound. */
  maxOutputTokens: number | null
}

/** Messages needs a bound in every request. The SDK knows Claude's; for another vendor's model it would take 4096. */
const FOREIGN_MAX_OUTPUT_TOKENS = 8_192

export interface ModelSource {
  /** Null: no route was given. */
  load(): Promise<Model> | null
}

export function createModelSource(given: AgentEnvironment['model']): ModelSource {
  let loaded: Promise<Model> | undefined
  return {
    load() {
      if (given === null) return null
      loaded ??= loadModel(given.route, given.key)
      return loaded
    },
  }
}

async function loadModel(route: ModelRoute, key: string | null): Promise<Model> {
  const sdk = await import('ai')
  const settings = {
    baseURL: route.baseUrl,
    // A router that asks for no key gets a word that is none; without any the SDK would look into the environment.
    apiKey: key ?? 'none',
  }
  const common = { sdk, reasoning: reasoningOf(route.effort), contextTokens: route.contextTokens }
  if (route.protocol === 'messages') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return {
      ...common,
      model: createAnthropic(settings)(route.modelId),
      // Inputs of tools are looked at whole; the mark for streaming them is one that other vendors do not know.
      providerOptions: { anthropic: { toolStreaming: false } },
      maxOutputTokens: route.modelId.startsWith('claude-') ? null : FOREIGN_MAX_OUTPUT_TOKENS,
      cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    }
  }
  const { createOpenAI } = await import('@ai-sdk/openai')
  return {
    ...common,
    model: createOpenAI(settings).responses(route.modelId),
    // The conversation is ours: nothing is kept upstream, every request carries the whole of it.
    providerOptions: {
      openai: {
        store: false,
        strictJsonSchema: false,
        ...(common.reasoning === undefined ? {} : { forceReasoning: true }),
      },
    },
    cacheMark: {},
    maxOutputTokens: null,
  }
}

function reasoningOf(effort: Effort): Model['reasoning'] {
  if (effort === 'default') return undefined
  return effort === 'off' ? 'none' : effort
}
