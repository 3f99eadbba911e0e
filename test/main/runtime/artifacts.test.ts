import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PNG } from './support/materials.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const DAY_MS = 24 * 3_600_000
const code = (expected: string) => expect.objectContaining({ code: expected })
const folder = (t: TestRuntime): string => join(t.dir, 'data', 'artifacts')

async function running(t: TestRuntime): Promise<string> {
  const { runId } = await t.submit()
  await quiet()
  return runId
}

async function read(t: TestRuntime, artifactId: string): Promise<string> {
  const { stream } = await t.runtime.artifacts.open({ sessionId: t.session.id, artifactId })
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}

async function* bytes(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
}

test('RT-A83 RT-A67 what was published can change no more, and publishing is a read', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  const path = join(t.dir, 'report.md')
  writeFileSync(path, 'old')
  const artifact = await t.runtime.artifacts.publish({ runId, path: 'report.md' })
  writeFileSync(path, 'new and longer')
  expect(artifact).toMatchObject({ kind: 'file', filename: 'report.md', bytes: 3, status: 'generated' })
  await expect(read(t, artifact.id)).resolves.toBe('old')
  await t.clock.advance(10_000)
  t.executor.last().end()
  await quiet()
  expect(t.runtime.runs.get(runId)).toMatchObject({ state: 'completed', sideEffects: 'read_only' })
  expect(t.types().filter((type) => type.startsWith('artifact'))).toEqual(['artifact_published'])
  expect(JSON.stringify(t.rows('SELECT * FROM attachments'))).not.toContain(t.dir)
  expect((await t.runtime.runs.view(runId)).run.artifacts).toMatchObject([
    { artifactId: artifact.id, filename: 'report.md' },
  ])
})

test('RT-A67 a stored copy that changed is not handed out', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  const { id } = await t.runtime.artifacts.publish({ runId, open: async () => ({ stream: bytes('abc') }) })
  const open = () => t.runtime.artifacts.open({ sessionId: t.session.id, artifactId: id })
  writeFileSync(join(folder(t), id, 'content'), 'abd')
  await expect(open()).rejects.toThrow(code('artifact_corrupt'))
  writeFileSync(join(folder(t), id, 'content'), 'abcd')
  await expect(open()).rejects.toThrow(code('artifact_corrupt'))
  rmSync(join(folder(t), id, 'content'))
  await expect(open()).rejects.toThrow(code('artifact_corrupt'))
  await expect(t.runtime.artifacts.open({ sessionId: runId, artifactId: id })).rejects.toThrow(
    code('artifact_not_found'),
  )
})

test('RT-A83 a link out of the work directory is refused, on record, and the run goes on', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  symlinkSync('/etc/hostname', join(t.dir, 'out'))
  mkdirSync(join(t.dir, 'sub'))
  const publish = (path: string) => t.runtime.artifacts.publish({ runId, path })
  await expect(publish('out')).rejects.toThrow(code('input_path_escape'))
  await expect(publish('/etc/hostname')).rejects.toThrow(code('input_path_escape'))
  await expect(publish('sub')).rejects.toThrow(code('artifact_unresolvable'))
  await expect(publish('https://example.com/a.png')).rejects.toThrow(code('artifact_unresolvable'))
  await expect(t.runtime.artifacts.publish({ runId })).rejects.toThrow(code('artifact_unresolvable'))
  await expect(publish(join('data', 'x'))).rejects.toThrow(code('artifact_unresolvable'))
  expect(t.runtime.runs.get(runId).state).toBe('running')
  t.executor.last().end()
  await quiet()
  const failed = t.events().filter(({ type }) => type === 'artifact_failed')
  expect(failed.map(({ data }) => data['code'])).toEqual([
    'input_path_escape',
    'input_path_escape',
    ...Array.from({ length: 4 }, () => 'artifact_unresolvable'),
  ])
  await expect(publish('out')).rejects.toThrow(code('run_ending'))
  expect(t.count('attachments')).toBe(0)
  expect(existsSync(folder(t)) ? readdirSync(folder(t)) : []).toEqual([])
})

test("RT-A83 an agent does not publish what lies in Wheelhouse's own folder", async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  mkdirSync(join(t.dir, 'data'), { recursive: true })
  writeFileSync(join(t.dir, 'data', 'settings.json'), '{}')
  await expect(t.runtime.artifacts.publish({ runId, path: 'data/settings.json' })).rejects.toThrow(
    code('policy_protected_path'),
  )
})

test('RT-A83 bytes of a picture are published without a file, by an update without an answer', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  t.executor.last().sink.push({ kind: 'artifact', filename: 'plot', open: async () => ({ stream: bytes(PNG) }) })
  t.executor.last().end()
  await expect.poll(() => t.runtime.runs.get(runId).state).toBe('completed')
  expect(t.runtime.artifacts.ofRun(runId)).toMatchObject([
    { kind: 'image', filename: 'plot.png', mediaType: 'image/png', bytes: PNG.length },
  ])
  const types = t.types()
  expect(types.indexOf('artifact_published')).toBeLessThan(types.indexOf('run_finished completed'))
})

test('a copy that is not ready 30 s after the end is left out, before the end and never after it', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  const stuck = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x')
    await new Promise(() => undefined)
  }
  t.executor.last().sink.push({ kind: 'artifact', filename: 'big', open: async () => ({ stream: stuck() }) })
  await expect.poll(() => (existsSync(folder(t)) ? readdirSync(folder(t)) : [])).toHaveLength(1)
  t.executor.last().end()
  await quiet()
  expect(t.runtime.runs.get(runId).state).toBe('terminalizing')
  await t.clock.advance(30_001)
  await quiet(10)
  expect(t.runtime.runs.get(runId).state).toBe('completed')
  expect(t.types().slice(-2)).toEqual(['artifact_failed', 'run_finished completed'])
})

test('RT-A84 what is past its time is gone, at the next try if not at the first', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  const { id } = await t.runtime.artifacts.publish({ runId, open: async () => ({ stream: bytes('abc') }) })
  t.clock.jumpWall(7 * DAY_MS - 1)
  await t.runtime.cleanUp()
  await expect(read(t, id)).resolves.toBe('abc')
  t.clock.jumpWall(1)
  const open = () => t.runtime.artifacts.open({ sessionId: t.session.id, artifactId: id })
  await expect(open()).rejects.toThrow(code('artifact_expired'))
  // A file where the folder was: nothing below it can be removed.
  renameSync(folder(t), `${folder(t)}.away`)
  await t.runtime.artifacts.cleanup()
  writeFileSync(folder(t), '')
  await t.runtime.cleanUp()
  expect(t.count('removals')).toBe(1)
  await expect(open()).rejects.toThrow(code('artifact_expired'))
  rmSync(folder(t))
  renameSync(`${folder(t)}.away`, folder(t))
  await t.runtime.cleanUp()
  expect(readdirSync(folder(t))).toEqual([])
  expect(t.count('removals')).toBe(0)
})

test('a copy that nobody knows is reclaimed after 8 days, and only if it is one', async () => {
  await using t = await createTestRuntime()
  const names = [1, 2, 3].map((n) => `01900000-0000-7fff-8000-00000000000${n}`)
  for (const name of [...names, 'something']) mkdirSync(join(folder(t), name), { recursive: true })
  const [torn = '', young = '', foreign = ''] = names
  writeFileSync(join(folder(t), torn, '.incoming-abc'), 'x')
  writeFileSync(join(folder(t), foreign, 'notes.txt'), 'x')
  const at = (ageMs: number): Date => new Date(t.clock.nowMs() - ageMs)
  for (const name of [torn, foreign, 'something']) utimesSync(join(folder(t), name), at(8 * DAY_MS), at(8 * DAY_MS))
  utimesSync(join(folder(t), young), at(8 * DAY_MS - 1), at(8 * DAY_MS - 1))
  await t.runtime.cleanUp()
  expect(readdirSync(folder(t)).sort()).toEqual([young, foreign, 'something'].sort())
})

test('the copies of a deleted session go with it', async () => {
  await using t = await createTestRuntime()
  const runId = await running(t)
  await t.runtime.artifacts.publish({ runId, open: async () => ({ stream: bytes('abc') }) })
  t.executor.last().end()
  await quiet()
  await t.runtime.sessions.delete(t.session.id)
  expect(readdirSync(folder(t))).toEqual([])
})
