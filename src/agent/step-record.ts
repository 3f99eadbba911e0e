/**
 * What is known of the step in progress, in the order in which it was shown. When a turn is cut off, by a cancel or a
 * failure, this is what the conversation keeps of it: the next prompt then knows what was said and done.
 */
import type { ModelMessage } from 'ai'

import type { ToolResult } from './tool-runner.ts'
import { toModelOutput } from './tool-runner.ts'

export interface StepRecord {
  begin(): void
  /** Which step, counted from 1; 0 before the first. */
  step(): number
  text(delta: string): void
  call(call: { toolCallId: string; toolName: string; input: unknown }): void
  result(toolCallId: string, result: ToolResult): void
  /** Empty if nothing was said or called. */
  messages(): ModelMessage[]
}

const LOST: ToolResult = { text: 'Cancelled before it ended. Whether it took effect is unknown.', failed: true }

export function createStepRecord(): StepRecord {
  let step = 0
  let said = ''
  let calls: { toolCallId: string; toolName: string; input: unknown }[] = []
  const results = new Map<string, ToolResult>()
  return {
    begin() {
      step += 1
      said = ''
      calls = []
      results.clear()
    },
    step: () => step,
    text: (delta) => (said += delta),
    call: (call) => calls.push(call),
    result: (toolCallId, result) => results.set(toolCallId, result),
    messages() {
      if (said === '' && calls.length === 0) return []
      const content = [
        ...(said === '' ? [] : [{ type: 'text' as const, text: said }]),
        ...calls.map((call) => ({ type: 'tool-call' as const, ...call })),
      ]
      const answers = calls.map(({ toolCallId, toolName }) => ({
        type: 'tool-result' as const,
        toolCallId,
        toolName,
        output: toModelOutput(results.get(toolCallId) ?? LOST),
      }))
      return [
        { role: 'assistant', content },
        ...(answers.length === 0 ? [] : [{ role: 'tool' as const, content: answers }]),
      ]
    },
  }
}
