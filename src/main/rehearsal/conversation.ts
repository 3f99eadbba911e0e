/** Builds a `Conversation` out of what either protocol sent, in order. */
import { assertNever } from '../../shared/errors.ts'
import type { JsonValue } from '../../shared/vocabulary.ts'
import type { Conversation, OfferedTool, ToolStep } from './types.ts'

export type Item =
  | { kind: 'user'; text: string }
  | { kind: 'assistant' }
  | { kind: 'call'; id: string; name: string; input: Readonly<Record<string, JsonValue>> }
  | { kind: 'result'; id: string; text: string; isError: boolean }

/** The newest prompt and what followed it. What a person says right behind a refusal is that refusal's reason. */
export function conversationOf(items: readonly Item[], tools: readonly OfferedTool[]): Conversation {
  let prompt: string | null = null
  let steering: string | null = null
  let steps: (ToolStep & { id: string })[] = []
  let refused = false
  for (const item of items) {
    switch (item.kind) {
      case 'user': {
        const text = withoutSurroundings(item.text)
        if (text === '') break
        if (refused) {
          steering = steering === null ? text : `${steering}\n${text}`
        } else {
          prompt = text
          steering = null
          steps = []
        }
        break
      }
      case 'assistant':
        refused = false
        break
      case 'call':
        refused = false
        steering = null
        steps.push({ id: item.id, name: item.name, input: item.input, result: null })
        break
      case 'result': {
        const step = steps.find((candidate) => candidate.id === item.id)
        if (step !== undefined) step.result = { text: item.text, isError: item.isError }
        refused = isRefusedByUser(item.text)
        break
      }
      default:
        assertNever(item)
    }
  }
  return { prompt, steps: steps.map(({ name, input, result }) => ({ name, input, result })), steering, tools }
}

/** Codex's words for a refusal. It cannot carry a reason there; the reason comes as a word of the person's. */
export function isRefusedByUser(result: string): boolean {
  return /(?:rejected|declined|denied) by (?:the )?user/i.test(result.split('\n', 1)[0] ?? '')
}

/** What agents add to a person's words: reminders, the folder, the project's instructions. */
const REMINDER = /<(system-reminder|environment_context|user_instructions|turn_aborted)>[\s\S]*?<\/\1>/g

function withoutSurroundings(text: string): string {
  const rest = text.replace(REMINDER, '').trim()
  return rest.startsWith('# AGENTS.md instructions') ? '' : rest
}

/** A tool's input as the script needs it; anything but an object of JSON is an empty one. */
export function parseInput(text: string): Readonly<Record<string, JsonValue>> {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return {}
  }
}

export function asObject(value: unknown): Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, JsonValue>)
    : {}
}

/** The properties of a JSON Schema object, with their types. */
export function inputOf(schema: unknown): Record<string, string | null> {
  const properties = asObject(asObject(schema)['properties'])
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { type } = asObject(property)
      return [name, typeof type === 'string' ? type : null]
    }),
  )
}
