import { describe, expect, test } from 'vitest'
import { createSecret, createSecretRegistry } from '../../../../src/main/platform/index.ts'
import { createContentChannel } from '../../../../src/main/workers/drivers/shared/content-channel.ts'
import type { ContentChannel } from '../../../../src/main/workers/drivers/shared/content-channel.ts'
import { createUpdateQueue } from '../../../../src/main/workers/drivers/shared/update-queue.ts'
import { LIMITS } from '../../../../src/main/workers/index.ts'
import type { ContentBody, ContentItem } from '../../../../src/main/workers/index.ts'
import { createRedactor } from '../../../../src/main/workers/text/redactor.ts'
import { clock } from '../harness.ts'

const KEY = 'sk-live-0123456789abcdefghij'
type ToolBody = Extract<ContentBody, { kind: 'tool' }>

function channelOf(): { channel: ContentChannel; items: ContentItem[]; said(): string } {
  const items: ContentItem[] = []
  const redactor = createRedactor(createSecretRegistry(), { secrets: [createSecret(KEY)], env: {}, dirs: [] })
  const updates = createUpdateQueue(clock, LIMITS.updates)
  const channel = createContentChannel({ write: (item) => void items.push(item) }, redactor, updates, LIMITS)
  const said = (): string => items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('')
  return { channel, items, said }
}

const text = (said: string, messageId = 'm'): ContentBody => ({ kind: 'text', role: 'agent', messageId, text: said })

function tool(more: Partial<ToolBody>): ToolBody {
  const named = { kind: 'tool', toolCallId: 'c', tool: 'execute', name: 'Bash', title: 'Run', paths: [] } as const
  return { ...named, phase: 'updated', status: 'in_progress', content: [], ...more }
}

describe('content', () => {
  test('W-61 a secret that the bound cuts in two is blanked whole', () => {
    const { channel, items, said } = channelOf()
    channel.write(1, text(`${'x'.repeat(LIMITS.contentBytes - 10)}${KEY} and more`), false)
    channel.write(1, text(' the end', 'n'), false)
    channel.flush()
    expect(said()).not.toContain('sk-live')
    expect(said()).not.toContain(KEY.slice(-9))
    expect(items.find(({ kind }) => kind === 'gap')).toBeDefined()
    expect(said().endsWith(' the end')).toBe(true)
  })

  test.each([1, 3, 27])('W-61 a secret that comes in pieces of %d characters is blanked', (size) => {
    const { channel, said } = channelOf()
    const whole = `before ${KEY} after`
    for (let at = 0; at < whole.length; at += size) channel.write(1, text(whole.slice(at, at + size)), false)
    channel.flush()
    expect(said()).toBe('before [secret] after')
  })

  test("W-61 an agent's own title of its session is one short line, and no cut leaves a part of a secret", () => {
    const { channel, items } = channelOf()
    for (const title of ['Fix it\nand more', `${'x'.repeat(190)}${KEY}`, 'y'.repeat(9_000_000), `With ${KEY}`]) {
      channel.write(1, { kind: 'title', title }, false)
    }
    expect(items.map((item) => (item.kind === 'title' ? item.title : null))).toEqual([
      'Fix it …',
      `${'x'.repeat(190)} …`,
      `${'y'.repeat(200)} …`,
      'With [secret]',
    ])
  })

  test('W-61 W-26 a title of a call is one short line, and no cut leaves a part of a secret', () => {
    const { channel, items } = channelOf()
    channel.write(1, tool({ title: `${'x'.repeat(190)}${KEY}` }), false)
    channel.write(1, tool({ title: `echo ${KEY}\nand more` }), false)
    expect(items).toMatchObject([{ title: `${'x'.repeat(190)} …` }, { title: 'echo [secret] …' }])
  })

  test('W-61 output that is not complete keeps back what may be the beginning of a secret', () => {
    const { channel, items } = channelOf()
    const output = (said: string, phase: ToolBody['phase']): ToolBody =>
      tool({ phase, content: [{ type: 'output', text: said, exitCode: null }] })
    channel.write(1, output(`so far ${KEY.slice(0, 12)}`, 'updated'), false)
    channel.write(1, output(`so far ${KEY} done sk-li`, 'finished'), false)
    expect(items).toMatchObject([
      { content: [{ text: 'so far ' }] },
      { content: [{ text: 'so far [secret] done sk-li' }] },
    ])
  })
})
