/** Plays the built-in agent over a real socket: the SDK's clients, the agent's own tools, in a folder of the test. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { stepCountIs, streamText, tool } from 'ai'
import type { ModelMessage, ToolSet } from 'ai'
import { BUILTIN_TOOLS } from '../../../src/agent/tools/index.ts'
import type { Clock } from '../../../src/main/platform/types.ts'
import { createRehearsal } from '../../../src/main/rehearsal/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'

export type Protocol = 'responses' | 'messages'
export const PROTOCOLS: readonly Protocol[] = ['responses', 'messages']

/** A clock whose sleeps are over at once; `slept` tells how long each was meant to be. */
export function createHastyClock(): Clock & { slept: number[] } {
  const slept: number[] = []
  return {
    ...createFakeClock(),
    slept,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        slept.push(ms)
        setImmediate(() => (signal?.aborted === true ? reject(signal.reason as Error) : resolve()))
      }),
  }
}

export interface Running extends AsyncDisposable {
  origin: string
  clock: Clock & { slept: number[] }
  stop(): Promise<void>
}

export async function startRehearsal(): Promise<Running> {
  const clock = createHastyClock()
  const rehearsal = createRehearsal({ clock, ids: createFakeIds(), log: createMemoryLog() })
  const { origin } = await rehearsal.start()
  return { origin, clock, stop: rehearsal.stop, [Symbol.asyncDispose]: rehearsal.stop }
}

export interface PlayedTurn {
  calls: { tool: string; input: Record<string, unknown>; result: string }[]
  texts: string[]
  deltas: number
  usage: { inputTokens: number | undefined; outputTokens: number | undefined }
  finishReason: string
  history: ModelMessage[]
}

/** One turn of the built-in agent. `deny`: the tools that the person refuses, each with the reason. */
export async function playTurn(options: {
  origin: string
  protocol: Protocol
  cwd: string
  prompt: string
  history?: readonly ModelMessage[]
  deny?: Record<string, string>
  tools?: boolean
}): Promise<PlayedTurn> {
  const { origin, protocol, cwd, deny = {} } = options
  const settings = { baseURL: `${origin}/v1`, apiKey: 'none' }
  const model =
    protocol === 'responses'
      ? createOpenAI(settings).responses('rehearsal-1')
      : createAnthropic(settings)('rehearsal-1')
  const calls: PlayedTurn['calls'] = []
  const set: ToolSet = {}
  for (const builtin of BUILTIN_TOOLS) {
    set[builtin.name] = tool({
      description: builtin.description,
      inputSchema: builtin.input,
      execute: async (input: unknown): Promise<string> => {
        const result = await runTool(builtin.name, input, cwd, deny)
        calls.push({ tool: builtin.name, input: input as Record<string, unknown>, result })
        return result
      },
    })
  }
  const messages: ModelMessage[] = [...(options.history ?? []), { role: 'user', content: options.prompt }]
  const failures: unknown[] = []
  const result = streamText({
    model,
    messages,
    ...(options.tools === false ? {} : { tools: set }),
    stopWhen: stepCountIs(12),
    maxRetries: 0,
    maxOutputTokens: 8_192,
    providerOptions: { openai: { store: false } },
    onError: ({ error }) => void failures.push(error),
  })
  let deltas = 0
  for await (const part of result.stream) if (part.type === 'text-delta') deltas += 1
  if (failures.length > 0) throw failures[0]
  const steps = await result.steps
  const { inputTokens, outputTokens } = steps[0]!.usage
  return {
    calls,
    texts: steps.map((step) => step.text),
    deltas,
    usage: { inputTokens, outputTokens },
    finishReason: await result.finishReason,
    history: [...messages, ...steps.flatMap((step) => step.response.messages)],
  }
}

async function runTool(name: string, input: unknown, cwd: string, deny: Record<string, string>): Promise<string> {
  const reason = deny[name]
  if (reason !== undefined) return `Denied by the person${reason === '' ? '' : `: ${reason}`}.`
  const builtin = BUILTIN_TOOLS.find((candidate) => candidate.name === name)!
  try {
    const planned = await builtin.plan(builtin.input.parse(input), { cwd, roots: [cwd] })
    return (await planned.run(new AbortController().signal, () => undefined)).text
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

/** The `data:` lines of an answer in SSE. */
export async function events(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [event = '', data = ''] = block.split('\n')
      const payload = JSON.parse(data.replace(/^data: /, '')) as Record<string, unknown>
      if (event !== `event: ${String(payload['type'])}`) throw new Error(`unlike event and type: ${block}`)
      return payload
    })
}

export function post(url: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, ...init, body: text })
}
