/** What the host hands over at start: the model's route in the environment, its key on a descriptor. */
import { closeSync, fstatSync, readSync } from 'node:fs'
import { z } from 'zod'

import { Effort } from '../shared/vocabulary.ts'

/** Longest key that is taken; anything longer is no key. */
const KEY_MAX_BYTES = 65_536

const ModelRoute = z.object({
  baseUrl: z.url().max(2_048),
  protocol: z.enum(['responses', 'messages']),
  modelId: z.string().min(1).max(256),
  effort: Effort,
  contextTokens: z.int().positive().nullable(),
})
/** Where the model is reached. `contextTokens`: the size of its window, null where the host does not know it. */
export type ModelRoute = z.infer<typeof ModelRoute>

export interface AgentEnvironment {
  /** Null: the host gave no route, and a prompt is answered "Authentication required". */
  model: { route: ModelRoute; key: string | null } | null
  /** Private folder for the conversations; null: they live as long as the process. */
  home: string | null
}

/**
 * Reads the environment and empties descriptor `WHEELHOUSE_MODEL_KEY_FD`, which is closed afterwards, so that no child
 * can inherit it. What only the start needed is deleted from `env`.
 * @throws Error: the route is there but malformed.
 */
export function readAgentEnvironment(env: NodeJS.ProcessEnv): AgentEnvironment {
  delete env['ELECTRON_RUN_AS_NODE']
  const descriptor = env['WHEELHOUSE_MODEL_KEY_FD']
  delete env['WHEELHOUSE_MODEL_KEY_FD']
  const key = descriptor !== undefined && /^\d{1,4}$/.test(descriptor) ? readKey(Number(descriptor)) : null
  const baseUrl = env['WHEELHOUSE_MODEL_BASE_URL']
  const contextSize = env['WHEELHOUSE_MODEL_CONTEXT_TOKENS']
  const route =
    baseUrl === undefined
      ? null
      : ModelRoute.parse({
          baseUrl: baseUrl.replace(/\/+$/, ''),
          protocol: env['WHEELHOUSE_MODEL_PROTOCOL'],
          modelId: env['WHEELHOUSE_MODEL_ID'],
          effort: env['WHEELHOUSE_MODEL_EFFORT'] ?? 'default',
          contextTokens: contextSize === undefined ? null : Number(contextSize),
        })
  return { model: route === null ? null : { route, key }, home: env['WHEELHOUSE_AGENT_HOME'] ?? null }
}

/** Reads a file from its beginning, whatever its shared offset is, and anything else to its end. */
function readKey(descriptor: number): string | null {
  const buffer = Buffer.alloc(KEY_MAX_BYTES + 1)
  try {
    const positional = fstatSync(descriptor).isFile()
    let length = 0
    while (length < buffer.length) {
      const count = readSync(descriptor, buffer, length, buffer.length - length, positional ? length : null)
      if (count === 0) break
      length += count
    }
    const key = length > KEY_MAX_BYTES ? '' : buffer.toString('utf8', 0, length).trim()
    return key === '' ? null : key
  } finally {
    buffer.fill(0)
    closeSync(descriptor)
  }
}

/**
 * The environment of a tool's child: the agent's own, without anything of Wheelhouse but the supervisor's mark, by which
 * a descendant is known as ours.
 */
export function childEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const clean: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || name === 'ELECTRON_RUN_AS_NODE') continue
    if (name.startsWith('WHEELHOUSE_') && name !== 'WHEELHOUSE_WORKER') continue
    clean[name] = value
  }
  return clean
}
