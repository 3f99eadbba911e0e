/** One turn: the model is asked, its tools are run, until it has nothing more to do. The loop itself is the SDK's. */
import { randomUUID } from 'node:crypto'
import type { StopReason } from '@agentclientprotocol/sdk'
import type { Usage } from '@agentclientprotocol/sdk/unstable'
import type { FinishReason, ModelMessage, ToolSet } from 'ai'

import type { History } from './history.ts'
import type { Model } from './model.ts'
import { isRequestRefused, toPromptError } from './model-errors.ts'
import type { Peer } from './rpc.ts'
import { RPC, RpcError } from './rpc.ts'
import { createStepRecord } from './step-record.ts'
import type { ToolResult, ToolRunner } from './tool-runner.ts'
import { toModelOutput } from './tool-runner.ts'
import type { AgentTool } from './tools/index.ts'
import { createUsageCount } from './usage.ts'

/** Model requests of one turn; the next prompt goes on from there. */
export const MAX_STEPS = 50
/** Before any output; what was shown already is never asked for again. */
const MAX_RETRIES = 2
/** After a cancel the turn is over at the latest then, whatever a tool or the model still does. */
const CANCEL_LIMIT_MS = 900

export interface TurnDeps {
  peer: Peer
  sessionId: string
  model: Model
  history: History
  instructions: string
  tools: readonly AgentTool[]
  runner: ToolRunner
}

export interface TurnEnd {
  stopReason: StopReason
  usage: Usage | null
}

/**
 * Runs a turn to its end; a cancel is an end, too.
 * @throws RpcError: the model failed. Its data is a `ModelErrorData`.
 */
export async function runTurn(deps: TurnDeps, prompt: ModelMessage, signal: AbortSignal): Promise<TurnEnd> {
  const { peer, sessionId, model, history } = deps
  const usage = createUsageCount()
  const record = createStepRecord()
  const seen = createGate(signal)
  const turnId = randomUUID().slice(0, 8)
  let stepsKept = 0
  const end: { finishReason: FinishReason; failure: { thrown: unknown } | null } = {
    finishReason: 'other',
    failure: null,
  }
  let over = false

  const say = (kind: 'agent_message_chunk' | 'agent_thought_chunk', id: string, text: string): Promise<void> =>
    peer.notify('session/update', {
      sessionId,
      update: { sessionUpdate: kind, messageId: `${turnId}-${record.step()}-${id}`, content: { type: 'text', text } },
    })

  async function consume(): Promise<void> {
    const result = model.sdk.streamText({
      model: model.model,
      instructions: { role: 'system', content: deps.instructions, providerOptions: model.cacheMark },
      messages: [...history.messages],
      tools: toToolSet(),
      toolCallConcurrency: 1,
      stopWhen: model.sdk.stepCountIs(MAX_STEPS),
      maxRetries: MAX_RETRIES,
      abortSignal: signal,
      providerOptions: model.providerOptions,
      ...(model.reasoning === undefined ? {} : { reasoning: model.reasoning }),
      ...(model.maxOutputTokens === null ? {} : { maxOutputTokens: model.maxOutputTokens }),
      prepareStep: ({ messages }) => ({ messages: markNewest(messages, model.cacheMark) }),
      onStepEnd: async (step) => {
        if (over) return
        stepsKept += 1
        await history.append(step.response.messages.map(withoutCacheMark))
      },
      onError: ({ error }) => {
        end.failure ??= { thrown: error }
      },
    })
    for await (const part of result.stream) {
      switch (part.type) {
        case 'start-step':
          record.begin()
          break
        case 'text-delta':
          record.text(part.text)
          await say('agent_message_chunk', part.id, part.text)
          break
        case 'reasoning-delta':
          await say('agent_thought_chunk', part.id, part.text)
          break
        case 'tool-call':
          record.call({ toolCallId: part.toolCallId, toolName: part.toolName, input: part.input })
          seen.open(part.toolCallId)
          break
        case 'tool-error':
          await reportInvalid(part)
          break
        case 'finish-step':
          usage.add(part.usage)
          await tellContext()
          break
        case 'finish':
          end.finishReason = part.finishReason
          break
        case 'error':
          end.failure ??= { thrown: part.error }
          break
        default:
          break
      }
    }
  }

  function toToolSet(): ToolSet {
    const set: ToolSet = {}
    for (const tool of deps.tools) {
      set[tool.name] = model.sdk.tool({
        description: tool.description,
        inputSchema: tool.jsonSchema === undefined ? tool.input : model.sdk.jsonSchema(tool.jsonSchema),
        execute: async (input: unknown, { toolCallId }): Promise<ToolResult> => {
          // The call is shown only after everything the model said before it.
          await seen.wait(toolCallId)
          const result = await deps.runner.run(tool, input, toolCallId, signal)
          record.result(toolCallId, result)
          return result
        },
        toModelOutput: ({ output }) => toModelOutput(output),
      })
    }
    return set
  }

  /** Tools report their own failures; what arrives as an error never reached one. */
  async function reportInvalid(part: { toolCallId: string; toolName: string; input: unknown; error: unknown }) {
    if (signal.aborted) return
    const message = part.error instanceof Error ? part.error.message : String(part.error)
    record.result(part.toolCallId, { text: message, failed: true })
    await deps.runner.reportInvalid({ name: part.toolName, input: part.input, modelCallId: part.toolCallId, message })
  }

  async function tellContext(): Promise<void> {
    const used = usage.contextUsed()
    if (used === null || model.contextTokens === null) return
    const update = { sessionUpdate: 'usage_update', used, size: model.contextTokens }
    await peer.notify('session/update', { sessionId, update })
  }

  async function keepWhatWasSaid(): Promise<void> {
    if (record.step() > stepsKept) await history.append(record.messages())
  }

  await history.append([prompt])
  const cut = abortedFor(signal, CANCEL_LIMIT_MS)
  try {
    await Promise.race([consume(), cut.reached])
  } catch (thrown) {
    end.failure ??= { thrown }
  } finally {
    over = true
    cut.dispose()
  }
  if (signal.aborted) {
    await keepWhatWasSaid()
    return { stopReason: 'cancelled', usage: usage.total() }
  }
  if (end.failure !== null || end.finishReason === 'error') {
    const error = toPromptError(end.failure === null ? new Error('The model ended with an error.') : end.failure.thrown)
    await keepWhatWasSaid()
    if (history.messages.at(-1) === prompt && isRequestRefused(error)) await history.withdrawNewest()
    throw error
  }
  return { stopReason: stopReasonOf(end.finishReason, stepsKept), usage: usage.total() }
}

function stopReasonOf(finishReason: FinishReason, steps: number): StopReason {
  switch (finishReason) {
    case 'length':
      return 'max_tokens'
    case 'content-filter':
      return 'refusal'
    case 'tool-calls':
      return steps >= MAX_STEPS ? 'max_turn_requests' : 'end_turn'
    case 'stop':
    case 'interrupted':
    case 'other':
      return 'end_turn'
    case 'error':
      throw new RpcError(RPC.internalError, 'The model ended with an error.')
    default:
      return finishReason satisfies never
  }
}

/** Lets each tool call wait until the reader of the stream has come to it. */
function createGate(signal: AbortSignal): { open(id: string): void; wait(id: string): Promise<void> } {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gate = (id: string): PromiseWithResolvers<void> => {
    const known = gates.get(id) ?? Promise.withResolvers<void>()
    gates.set(id, known)
    return known
  }
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  return {
    open: (id) => gate(id).resolve(),
    async wait(id) {
      await Promise.race([gate(id).promise, aborted])
      signal.throwIfAborted()
    },
  }
}

/** `reached` resolves `limitMs` after the abort. */
function abortedFor(signal: AbortSignal, limitMs: number): { reached: Promise<void>; dispose(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    timer = setTimeout(resolve, limitMs)
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return {
    reached: promise,
    dispose() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

/** The prompt cache keeps everything up to the newest message; older marks go, an upstream allows few. */
function markNewest(messages: readonly ModelMessage[], mark: Model['cacheMark']): ModelMessage[] {
  if (Object.keys(mark).length === 0) return [...messages]
  const plain = messages.map(withoutCacheMark)
  const newest = plain.at(-1)
  if (newest !== undefined)
    plain[plain.length - 1] = { ...newest, providerOptions: { ...newest.providerOptions, ...mark } }
  return plain
}

function withoutCacheMark<Message extends ModelMessage>(message: Message): Message {
  const { anthropic, ...others } = message.providerOptions ?? {}
  if (anthropic?.['cacheControl'] === undefined) return message
  const { cacheControl: _mark, ...rest } = anthropic
  const providerOptions = { ...others, ...(Object.keys(rest).length === 0 ? {} : { anthropic: rest }) }
  return { ...message, providerOptions }
}
