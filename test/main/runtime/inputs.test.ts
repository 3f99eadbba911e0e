import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { OpenedMaterial, PrepareInput } from '../../../src/main/runtime/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { PNG } from './support/materials.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const MEBIBYTE = 1_048_576

async function* bytes(...pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

const opened = (stream: AsyncIterable<Uint8Array>, more: Partial<OpenedMaterial> = {}) =>
  (async () => ({ stream, ...more })) satisfies PrepareInput['open']

function prepare(t: TestRuntime, request: Partial<PrepareInput> = {}) {
  return t.runtime.inputs.prepare({
    sessionId: t.session.id,
    origin: 'window',
    itemIndex: 0,
    kind: 'file',
    hints: { filename: 'notes.txt' },
    open: opened(bytes('hello')),
    ...request,
  })
}

const root = (t: TestRuntime): string => join(t.dir, '.wheelhouse', 'inputs')
const folders = (t: TestRuntime): string[] => (existsSync(root(t)) ? readdirSync(root(t)) : [])
const code = (expected: string) => expect.objectContaining({ code: expected })

test('RT-A64 an image is what its bytes say, whatever it is called', async () => {
  await using t = await createTestRuntime()
  const { input } = await prepare(t, { kind: 'image', hints: { filename: 'x.txt' }, open: opened(bytes(PNG)) })
  expect(input).toMatchObject({ kind: 'image', mediaType: 'image/png', filename: 'x.png', bytes: PNG.length })
  const path = join(t.dir, input.relativePath)
  expect(readFileSync(path)).toEqual(PNG)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(root(t)).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(t.dir, '.wheelhouse', '.gitignore'), 'utf8')).toBe('*\n')
})

test('RT-A64 text that is called an image is refused and leaves no folder', async () => {
  await using t = await createTestRuntime()
  await expect(prepare(t, { kind: 'image', hints: { filename: 'a.png' } })).rejects.toThrow(code('input_type_mismatch'))
  expect(folders(t)).toEqual([])
  expect(t.count('input_resources')).toBe(0)
  expect(t.count('removals')).toBe(0)
})

test('RT-A64 one byte too many is refused, and a size that is said to be too large is never opened', async () => {
  await using t = await createTestRuntime()
  const pieces = Array.from({ length: 20 }, () => Buffer.alloc(MEBIBYTE))
  const tooLarge = prepare(t, { kind: 'image', open: opened(bytes(...pieces, Buffer.alloc(1))) })
  await expect(tooLarge).rejects.toThrow(code('input_too_large'))
  let opens = 0
  const open = async () => {
    opens++
    return { stream: bytes('x'), size: 51 * MEBIBYTE }
  }
  await expect(prepare(t, { hints: { size: 51 * MEBIBYTE }, open })).rejects.toThrow(code('input_too_large'))
  expect(opens).toBe(0)
  await expect(prepare(t, { open })).rejects.toThrow(code('input_too_large'))
  expect(opens).toBe(1)
  expect(folders(t)).toEqual([])
})

test('RT-A65 a link in the place of the input folder is never written through', async () => {
  using elsewhere = createTempDir()
  for (const name of ['.wheelhouse', '.wheelhouse/inputs']) {
    await using t = await createTestRuntime()
    if (name.includes('/')) mkdirSync(join(t.dir, '.wheelhouse'))
    symlinkSync(elsewhere.path, join(t.dir, name))
    await expect(prepare(t)).rejects.toThrow(code('input_path_escape'))
    expect(readdirSync(elsewhere.path)).toEqual([])
  }
})

test('RT-A65 a file in the place of the input folder is refused', async () => {
  await using t = await createTestRuntime()
  writeFileSync(join(t.dir, '.wheelhouse'), 'x')
  await expect(prepare(t)).rejects.toThrow(code('input_path_escape'))
})

test('a name is the last part of a path, of at most 255 bytes, without control characters', async () => {
  await using t = await createTestRuntime()
  const names = ['../../etc/passwd', String.raw`C:\x\b.txt`, '..', '', 'a\nb', `${'é'.repeat(200)}.txt`]
  const stored: string[] = []
  for (const filename of names) stored.push((await prepare(t, { hints: { filename } })).input.filename)
  expect(stored).toEqual(['passwd', 'b.txt', 'attachment', 'attachment', 'a_b', `${'é'.repeat(125)}.txt`])
})

test('RT-A66 the same item of the same event is the same input, and its reference is kept nowhere', async () => {
  await using t = await createTestRuntime()
  const item = { origin: 'channel', eventId: 'the-outside-reference' }
  const first = await prepare(t, item)
  const open = vi.fn<PrepareInput['open']>()
  await expect(prepare(t, { ...item, open })).resolves.toMatchObject({ input: { id: first.input.id }, replayed: true })
  expect(open).not.toHaveBeenCalled()
  await expect(prepare(t, { ...item, itemIndex: 1 })).resolves.toMatchObject({ replayed: false })
  expect(folders(t)).toHaveLength(2)
  expect(JSON.stringify([t.rows('SELECT * FROM input_resources'), t.events()])).not.toContain('the-outside-reference')
})

test('RT-A66 of two that race for one item the later one gives its copy up', async () => {
  await using t = await createTestRuntime()
  const item = { eventId: 'e' }
  const [a, b] = await Promise.all([prepare(t, item), prepare(t, item)])
  expect(a.input.id).toBe(b.input.id)
  expect(folders(t)).toEqual([a.input.id])
  expect(t.count('input_resources')).toBe(1)
})

test('RT-A66 an unsent draft goes after a day, a sent one stays', async () => {
  await using t = await createTestRuntime()
  const draft = (await prepare(t)).input
  const sent = (await prepare(t)).input
  await t.submit({ inputs: [sent.id] })
  await quiet()
  t.clock.jumpWall(24 * 3_600_000 - 1)
  await expect(t.runtime.inputs.cleanup()).resolves.toEqual({ expired: 0, missing: 0 })
  t.clock.jumpWall(1)
  await expect(t.runtime.inputs.cleanup()).resolves.toEqual({ expired: 1, missing: 0 })
  expect(t.runtime.inputs.get({ sessionId: t.session.id, inputId: draft.id }).status).toBe('deleted')
  expect(folders(t)).toEqual([sent.id])
})

test('a prompt carries its attachments in order, and they are told with it', async () => {
  await using t = await createTestRuntime({ title: '' })
  const a = (await prepare(t, { hints: { filename: 'a.txt' } })).input
  const b = (await prepare(t, { hints: { filename: 'b.txt' } })).input
  const { runId } = await t.submit({ text: '', inputs: [b.id, a.id] })
  await quiet()
  expect(t.executor.last().spec.prompt.inputs).toEqual([
    { path: join(t.dir, b.relativePath), filename: 'b.txt', mediaType: 'text/plain', bytes: 5 },
    { path: join(t.dir, a.relativePath), filename: 'a.txt', mediaType: 'text/plain', bytes: 5 },
  ])
  expect(t.runtime.inputs.ofRun(runId).map(({ id, status }) => [id, status])).toEqual([
    [b.id, 'attached'],
    [a.id, 'attached'],
  ])
  expect(t.types().filter((type) => type === 'input_attached')).toHaveLength(2)
  expect((await t.runtime.runs.view(runId)).run.inputs.map(({ filename }) => filename)).toEqual(['b.txt', 'a.txt'])
  expect(t.runtime.sessions.get(t.session.id).title).toBe('b.txt')
})

test('what is gone cannot be submitted, and what was sent once cannot be sent again', async () => {
  await using t = await createTestRuntime()
  const sessionId = t.session.id
  const [gone, removed, sent] = [(await prepare(t)).input, (await prepare(t)).input, (await prepare(t)).input]
  await t.runtime.inputs.discard({ sessionId, inputId: gone.id })
  rmSync(join(t.dir, removed.relativePath))
  for (const id of [gone.id, removed.id, t.session.id]) {
    await expect(t.submit({ inputs: [id] })).rejects.toThrow(code('input_unavailable'))
  }
  await t.submit({ inputs: [sent.id] })
  await quiet()
  t.executor.last().end()
  await quiet()
  await expect(t.submit({ inputs: [sent.id] })).rejects.toThrow(code('input_attached_elsewhere'))
  await expect(t.submit({ inputs: [sent.id, sent.id] })).rejects.toThrow(code('prompt_invalid'))
  await expect(t.runtime.inputs.cleanup()).resolves.toEqual({ expired: 0, missing: 1 })
  expect(t.types()).toContain('input_missing')
})

test('a retry keeps the attachments and their first run; an agent that took the prompt is not sent them again', async () => {
  let accepts = false
  await using t = await createTestRuntime({
    onStart() {
      if (!accepts) throw new Error('no agent')
    },
  })
  const { input } = await prepare(t)
  const first = await t.submit({ inputs: [input.id] })
  await quiet()
  accepts = true
  const second = await t.runtime.runs.retry({ runId: first.runId, source: 'desktop' })
  await quiet()
  expect(t.executor.last().spec.prompt.inputs).toHaveLength(1)
  t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 400' } })
  await quiet()
  const third = await t.runtime.runs.retry({ runId: second.runId, source: 'desktop' })
  await quiet()
  expect(t.executor.last().spec.prompt.inputs).toEqual([])
  for (const { runId } of [first, second, third]) {
    expect(t.runtime.inputs.ofRun(runId)).toMatchObject([{ id: input.id, runId: first.runId }])
  }
})

test('RT-A16 a disk that is full at the admission leaves the attachment a draft', async () => {
  await using t = await createTestRuntime()
  const { input } = await prepare(t)
  t.failpoints.failAt('admit.before_commit')
  await expect(t.submit({ inputs: [input.id] })).rejects.toThrow('admit.before_commit')
  expect(t.runtime.inputs.get({ sessionId: t.session.id, inputId: input.id }).status).toBe('prepared')
  expect(t.count('run_inputs')).toBe(0)
})

test('discard is for drafts, delete for all, and both are successes when repeated', async () => {
  await using t = await createTestRuntime()
  const sessionId = t.session.id
  const inputId = (await prepare(t)).input.id
  await t.submit({ inputs: [inputId] })
  await quiet()
  await expect(t.runtime.inputs.discard({ sessionId, inputId })).rejects.toThrow(code('input_attached'))
  await expect(t.runtime.inputs.delete({ sessionId, inputId })).resolves.toMatchObject({ status: 'deleted' })
  await expect(t.runtime.inputs.delete({ sessionId, inputId })).resolves.toMatchObject({ status: 'deleted' })
  await expect(t.runtime.inputs.discard({ sessionId, inputId })).resolves.toMatchObject({ status: 'deleted' })
  expect(folders(t)).toEqual([])
  expect(t.types().filter((type) => type === 'input_deleted')).toHaveLength(1)
})

test('a stream that stops coming, or never ends, is given up', async () => {
  await using t = await createTestRuntime()
  async function* stalled(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x')
    await new Promise(() => undefined)
  }
  const waiting = prepare(t, { open: opened(stalled()) })
  const refused = waiting.catch((error: unknown) => error)
  await expect.poll(() => folders(t)).toHaveLength(1)
  while (t.clock.pending() === 0) await quiet()
  await t.clock.advance(120_001)
  expect(await refused).toMatchObject({ code: 'input_read_timeout' })
  expect(folders(t)).toEqual([])
})

test('the files of a deleted session go with it', async () => {
  await using t = await createTestRuntime()
  await prepare(t)
  expect(folders(t)).toHaveLength(1)
  await t.runtime.sessions.delete(t.session.id)
  expect(folders(t)).toEqual([])
  expect(t.count('removals')).toBe(0)
})
