import { describe, expect, test } from 'vitest'
import { createHarness, prompt } from '../harness.ts'
import type { Harness, HarnessOptions } from '../harness.ts'
import { acpFixture } from './acp-fixture.ts'

const harness = (options: HarnessOptions): Harness => createHarness(acpFixture, options)

/** What the fake was sent as prompts: the text blocks of each. */
function prompts(h: Harness): string[][] {
  return h.report().wire.flatMap((line) => {
    const { params } = line
    if (!acpFixture.isPrompt(line) || typeof params !== 'object' || params === null || !('prompt' in params)) return []
    const blocks = Array.isArray(params.prompt) ? params.prompt : []
    return [blocks.map((block: { text?: string; uri?: string }) => block.text ?? block.uri ?? '')]
  })
}

describe('what an ACP agent tells and is told', () => {
  test('W-22 everything it says becomes content, in the order of the wire', async () => {
    await using h = harness({ scenario: 'stream-all' })
    const session = await h.open()
    const result = await session.prompt(prompt('hello'))
    const counts = {
      inputTokens: 7,
      outputTokens: 5,
      cachedInputTokens: 3,
      cacheWriteTokens: null,
      reasoningTokens: null,
    }
    const context = { contextUsed: 100, contextSize: 1_000, costUsd: 0.5 }
    expect(result.usage).toEqual({ ...counts, ...context })
    const none = { inputTokens: null, outputTokens: null, cachedInputTokens: null, cacheWriteTokens: null }
    const tool = {
      kind: 'tool',
      toolCallId: 'run',
      tool: 'execute',
      name: 'bash',
      title: 'run it',
      paths: ['/project/a'],
    }
    expect(h.content).toEqual(
      [
        { kind: 'title', title: 'A title' },
        { kind: 'commands', commands: [{ name: 'init', description: 'Begin' }] },
        { kind: 'plan', entries: [{ content: 'first', status: 'pending', priority: 'high' }] },
        { kind: 'text', role: 'thought', messageId: 'thought-1', text: 'hm' },
        { kind: 'text', role: 'agent', messageId: 'agent-2', text: 'one' },
        { ...tool, phase: 'started', status: 'pending', content: [] },
        {
          ...tool,
          phase: 'finished',
          status: 'completed',
          content: [{ type: 'output', text: 'out', exitCode: 2 }],
        },
        { kind: 'text', role: 'agent', messageId: 'agent-3', text: 'two' },
        { kind: 'usage', usage: { ...none, reasoningTokens: null, ...context } },
      ].map((item) => ({ turn: 1, ...item })),
    )
  })

  test('WK-68 it cannot be steered, so the session does not offer it', async () => {
    await using h = harness({ scenario: 'ok' })
    const session = await h.open()
    expect(session.steer).toBeUndefined()
    expect(session.refusalReason).toBe('next_prompt')
  })

  test('a reason for a refusal reaches it with the next prompt, once', async () => {
    await using h = harness({
      scenario: 'refuse-one',
      decide: () => Promise.resolve({ allow: false, by: 'person', reason: 'use pnpm' }),
    })
    const session = await h.open()
    await session.prompt(prompt('one'))
    await session.prompt(prompt('two'))
    expect(prompts(h)).toEqual([['one'], ['The person refused "run it": use pnpm', 'two']])
  })

  test('what was refused is shown as declined, not as failed', async () => {
    await using h = harness({ scenario: 'refuse-one' })
    await (await h.open()).prompt(prompt('one'))
    expect(h.content.at(-1)).toMatchObject({ kind: 'tool', phase: 'finished', status: 'declined' })
  })

  test('an earlier transcript goes visibly before the first prompt alone', async () => {
    await using h = harness({ scenario: 'ok', change: (cfg) => ({ ...cfg, history: 'Earlier: hello' }) })
    const session = await h.open()
    await session.prompt(prompt('one'))
    await session.prompt(prompt('two'))
    expect(prompts(h)).toEqual([['Earlier: hello\n\none'], ['two']])
  })

  test('W-23 what is literal is no command, and files go by their address', async () => {
    await using h = harness({ scenario: 'ok' })
    const session = await h.open()
    const input = { path: `${h.dir}/a b.txt`, mediaType: 'text/plain', filename: 'a b.txt', bytes: 1 }
    await session.prompt(prompt('/init', { literal: true, inputs: [input] }))
    expect(prompts(h)).toEqual([['\n/init', `file://${h.dir}/a%20b.txt`]])
  })

  test('W-23 a prompt over its bound is refused, and the next one works', async () => {
    await using h = harness({ scenario: 'ok' })
    const session = await h.open()
    const long = session.prompt(prompt('x'.repeat(1_048_577)))
    await expect(long).rejects.toMatchObject({ code: 'prompt_too_large' })
    expect(await session.prompt(prompt('x'.repeat(1_048_576)))).toMatchObject({ stop: 'end_turn' })
  })
})
