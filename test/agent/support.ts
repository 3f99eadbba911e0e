/** What the agent's tests share: a folder, a fake model and a process, all gone when the test is over. */
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

import type { AgentProcess } from '../support/agent-process.ts'
import { startAgentProcess } from '../support/agent-process.ts'
import type { FakeModel, ScriptedCall, ScriptedTurn } from '../support/fake-model.ts'
import { startFakeModel } from '../support/fake-model.ts'

export const DIALECTS = ['responses', 'messages'] as const
export type Dialect = (typeof DIALECTS)[number]

export async function aFolder(files: Record<string, string> = {}): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-test-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

export async function aModel(...turns: ScriptedTurn[]): Promise<FakeModel> {
  const model = await startFakeModel(...turns)
  onTestFinished(() => model.close())
  return model
}

export function anAgent(
  model: FakeModel | null,
  options: {
    dialect?: Dialect
    key?: string
    home?: string
    modelId?: string
    effort?: string
    env?: Record<string, string>
  } = {},
): AgentProcess {
  const { dialect, modelId, effort, ...rest } = options
  const route = {
    protocol: dialect ?? 'responses',
    ...(modelId === undefined ? {} : { modelId }),
    ...(effort === undefined ? {} : { effort }),
  }
  const agent = startAgentProcess({
    ...rest,
    ...(model === null ? {} : { model: { baseUrl: model.baseUrl, ...route } }),
  })
  onTestFinished(async () => {
    await agent.end()
  })
  return agent
}

let calls = 0
export function call(name: string, input: object): ScriptedCall {
  calls += 1
  return { id: `call_${calls}`, name, input }
}

export function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8')
}

/** The results of tools that the newest request carried, in either dialect. */
export function toolResults(model: FakeModel): string[] {
  const body = model.requests.at(-1)?.body ?? {}
  const results: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const item = value as Record<string, unknown>
    if (item['type'] === 'function_call_output' && typeof item['output'] === 'string') results.push(item['output'])
    if (item['type'] === 'tool_result') {
      const content = item['content']
      results.push(typeof content === 'string' ? content : JSON.stringify(content))
    }
    for (const child of Object.values(item)) visit(child)
  }
  visit(body['input'] ?? body['messages'])
  return results
}

/** Everything the newest request said to the model, as one text. */
export function wholeRequest(model: FakeModel): string {
  return JSON.stringify(model.requests.at(-1)?.body)
}

/** Whether a process of this id is there. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
