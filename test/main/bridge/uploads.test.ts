import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inputHandlers } from '../../../src/main/bridge/handlers/inputs.ts'
import { createUploads } from '../../../src/main/bridge/uploads.ts'
import type { CallContext } from '../../../src/main/bridge/types.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createTestRuntime, quiet } from '../runtime/support/runtime.ts'
import type { TestRuntime } from '../runtime/support/runtime.ts'

const code = (expected: string) => expect.objectContaining({ code: expected })
const encode = (text: string): string => Buffer.from(text).toString('base64')
const item = (t: TestRuntime, size: number) => ({
  sessionId: t.session.id,
  kind: 'file' as const,
  filename: 'notes.txt',
  size,
})

function uploadsOf(t: TestRuntime) {
  return createUploads({ clock: t.clock, ids: createFakeIds(9), inputs: t.runtime.inputs })
}

test('a file comes in pieces and is whole at the end', async () => {
  await using t = await createTestRuntime()
  const uploads = uploadsOf(t)
  const id = uploads.begin('c', item(t, 11))
  await expect(uploads.chunk('c', id, 0, encode('hello '))).resolves.toBe(6)
  await expect(uploads.chunk('c', id, 1, '')).resolves.toBe(6)
  await expect(uploads.chunk('c', id, 2, encode('world'))).resolves.toBe(11)
  const { input } = await uploads.finish('c', id)
  expect(readFileSync(join(t.dir, input.relativePath), 'utf8')).toBe('hello world')
  await expect(uploads.finish('c', id)).rejects.toThrow(code('input_unavailable'))
})

test('an empty file is one', async () => {
  await using t = await createTestRuntime()
  const uploads = uploadsOf(t)
  const { input } = await uploads.finish('c', uploads.begin('c', item(t, 0)))
  expect(input).toMatchObject({ bytes: 0, status: 'prepared' })
})

test.each([
  ['out of order', async (u: ReturnType<typeof uploadsOf>, id: string) => u.chunk('c', id, 1, encode('a'))],
  ['that are no base64', async (u: ReturnType<typeof uploadsOf>, id: string) => u.chunk('c', id, 0, 'a*b=')],
  [
    'beyond the size that was said',
    async (u: ReturnType<typeof uploadsOf>, id: string) => u.chunk('c', id, 0, encode('abcd')),
  ],
  ['that are not all', async (u: ReturnType<typeof uploadsOf>, id: string) => u.finish('c', id)],
])('pieces %s end the upload, and nothing is left of it', async (_what, act) => {
  await using t = await createTestRuntime()
  const uploads = uploadsOf(t)
  const id = uploads.begin('c', item(t, 3))
  await expect(act(uploads, id)).rejects.toThrow(code('input_invalid'))
  await expect(uploads.chunk('c', id, 0, encode('a'))).rejects.toThrow(code('input_unavailable'))
  expect([t.count('input_resources'), t.count('removals')]).toEqual([0, 0])
})

test("an upload is its connection's alone, bounded in number, and says why it failed", async () => {
  await using t = await createTestRuntime()
  const uploads = uploadsOf(t)
  const id = uploads.begin('c', item(t, 51 * 1_048_576))
  await expect(uploads.chunk('other', id, 0, '')).rejects.toThrow(code('input_unavailable'))
  expect(uploads.abort('other', id)).toBe(false)
  await quiet()
  await expect(uploads.chunk('c', id, 0, encode('a'))).rejects.toThrow(code('input_too_large'))
  const many = Array.from({ length: 8 }, () => uploads.begin('c', item(t, 1)))
  expect(() => uploads.begin('c', item(t, 1))).toThrow(code('too_many_calls'))
  for (const each of many) expect(uploads.abort('c', each)).toBe(true)
})

test('a published file is read page by page', async () => {
  await using t = await createTestRuntime()
  const handlers = inputHandlers({ runtime: t.runtime, platform: { clock: t.clock, ids: createFakeIds(9) } })
  const context: CallContext = {
    signal: new AbortController().signal,
    connection: { generation: 'g', kind: 'window', shows: null, focused: true },
    actor: { via: 'window', connection: 'g' },
  }
  const { runId } = await t.submit()
  await quiet()
  const content = Buffer.alloc(3_000_000, 'abcdefg')
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield content
  }
  await t.runtime.artifacts.publish({ runId, filename: 'big.bin', open: async () => ({ stream: bytes() }) })
  const { attachments } = await handlers['attachments.list']({ runId }, context)
  const artifactId = attachments[0]?.artifactId ?? ''
  const pages: Buffer[] = []
  for (let offset: number | null = 0; offset !== null;) {
    const page = await handlers['attachments.read']({ sessionId: t.session.id, artifactId, offset }, context)
    pages.push(Buffer.from(page.base64, 'base64'))
    offset = page.next
  }
  expect(pages.map(({ length }) => length)).toEqual([2_097_152, 902_848])
  expect(Buffer.concat(pages).equals(content)).toBe(true)
})
