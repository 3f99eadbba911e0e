/** What a damaged record, a full or read-only disk and a lost folder cost: as little as possible, and it is said by code. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openPlatform } from '../../../src/main/platform/index.ts'
import { runtimeMigrations } from '../../../src/main/runtime/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { fillUp, mountAt } from '../../support/small-disk.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'
import type { TestRuntime } from './support/runtime.ts'

const code = (expected: string) => expect.objectContaining({ code: expected })

describe('a damaged record', () => {
  /** A session with a run that failed after it had asked and said something, and one beside it. */
  async function twoSessions(): Promise<TestRuntime & { runId: string; otherId: string }> {
    const t = await createTestRuntime()
    const other = await t.runtime.sessions.create({
      agentId: 'claude',
      workDir: t.dir,
      createdVia: 'desktop',
      title: 'Beside it',
    })
    const { runId } = await t.submit({ text: 'find the needle' })
    await quiet()
    t.executor.last().ask()
    await quiet()
    t.executor.last().text('a needle')
    t.executor.last().end({ outcome: 'failed', error: { message: 'HTTP 400' } })
    await quiet()
    await t.runtime.sessions.snapshot({ sessionId: t.session.id })
    await quiet()
    t.store.db.exec('DROP TRIGGER run_events_append_only')
    return Object.assign(t, { runId, otherId: other.id })
  }

  test.each([
    ['sessions.extra_dirs', `UPDATE sessions SET extra_dirs = '{"a":1}' WHERE id = @id`],
    ['runs.error', `UPDATE runs SET error = '[1]' WHERE session_id = @id`],
    ['runs.policy', `UPDATE runs SET policy = '[1]' WHERE session_id = @id`],
    [
      'decisions.payload',
      `UPDATE decisions SET payload = '[]', status = 'pending', settled_at = NULL WHERE session_id = @id`,
    ],
    ['run_events.data', `UPDATE run_events SET data = '[]' WHERE session_id = @id`],
    ['entries.body', `UPDATE entries SET body = '[]' WHERE session_id = @id`],
    ['run_views.view', `UPDATE run_views SET view = '[]'`],
  ])('RT-A70 in %s hides no other session, and no list fails because of it', async (_where, sql) => {
    await using t = await twoSessions()
    t.store.db.prepare(sql).run(...(sql.includes('@id') ? [{ id: t.session.id }] : []))
    expect(t.runtime.sessions.list({}).sessions.map(({ title }) => title)).toContain('Beside it')
    expect(Array.isArray(t.runtime.decisions.pending(null))).toBe(true)
    expect(t.runtime.sessions.search({ text: 'needle' }).hits.length).toBeLessThanOrEqual(2)
    await expect(t.runtime.recovery.scanNow()).resolves.toMatchObject({ failed: 0 })
    await expect(t.submit({ sessionId: t.otherId })).resolves.toMatchObject({ replayed: false })
    expect(t.runtime.sessions.get(t.otherId).title).toBe('Beside it')
  })

  test('RT-A70 of a session or of its run is told by its code, and its state is unknown', async () => {
    await using t = await twoSessions()
    t.store.db.exec(`UPDATE runs SET error = '[1]'`)
    expect(t.runtime.sessions.inspect(t.session.id)).toMatchObject({ state: 'unknown', busy: true })
    expect(t.runtime.sessions.briefs([t.session.id, t.otherId]).map(({ damaged }) => damaged)).toEqual([true, false])
    expect(() => t.runtime.runs.get(t.runId)).toThrow(code('database_corrupt'))
    t.store.db.exec(`UPDATE sessions SET extra_dirs = '{}' WHERE id = '${t.session.id}'`)
    expect(() => t.runtime.sessions.get(t.session.id)).toThrow(code('database_corrupt'))
    await expect(t.submit()).rejects.toThrow(code('database_corrupt'))
  })

  test('a view that was kept and cannot be read is worked out anew', async () => {
    await using t = await twoSessions()
    const { turns } = await t.runtime.sessions.snapshot({ sessionId: t.session.id })
    t.store.db.exec(`UPDATE run_views SET view = '{}'`)
    expect((await t.runtime.sessions.snapshot({ sessionId: t.session.id })).turns).toEqual(turns)
  })

  test('a question that cannot be read keeps no run from its end', async () => {
    await using t = await createTestRuntime()
    const { runId } = await t.submit()
    await quiet()
    t.executor.last().ask()
    await quiet()
    t.store.db.exec(`UPDATE decisions SET payload = '[]'`)
    t.executor.last().end()
    await quiet()
    expect(t.runtime.runs.get(runId).state).toBe('completed')
    expect(t.rows('SELECT status FROM decisions')).toEqual([{ status: 'cancelled' }])
  })
})

/** No page more than there is; as SQLite meets a disk without room. */
function fill(t: TestRuntime): void {
  t.store.db.exec('VACUUM')
  t.store.db.pragma(`max_page_count = ${String(t.store.db.pragma('page_count', { simple: true }))}`)
}
const LONG = 'x'.repeat(200_000)

describe('a database without room', () => {
  test('RT-A16 admits nothing, keeps no lease, and admits once there is some', async () => {
    await using t = await createTestRuntime()
    fill(t)
    await expect(t.submit({ text: LONG, key: 'k' })).rejects.toMatchObject({ code: 'storage_full', retryable: true })
    expect(['intents', 'runs', 'run_events', 'turns', 'leases'].map(t.count)).toEqual([0, 0, 0, 0, 0])
    t.store.db.pragma('max_page_count = 1000000')
    await expect(t.submit({ text: LONG, key: 'k' })).resolves.toMatchObject({ replayed: false })
  })

  test('RT-A23 keeps the end of a run, and whose it is, until there is some', async () => {
    await using t = await createTestRuntime()
    const { runId } = await t.submit()
    await quiet()
    fill(t)
    t.executor.last().text(LONG)
    t.executor.last().end()
    await t.clock.advance(3_000)
    expect(t.runtime.sessions.inspect(t.session.id)).toMatchObject({ state: 'local', activeRun: { runId } })
    t.store.db.pragma('max_page_count = 1000000')
    await t.clock.advance(3_000)
    expect(t.runtime.runs.get(runId).state).toBe('completed')
    expect((await t.runtime.runs.view(runId)).run.items).toMatchObject([{ kind: 'text', text: LONG }])
    expect(t.types().filter((type) => type.startsWith('run_finished'))).toHaveLength(1)
  })
})

describe('a disk', () => {
  test('that is full is storage_full for rows and files, and what waited is written once it is not', async (context) => {
    using dir = createTempDir()
    using disk = mountAt(dir.at('disk'), '3m')
    if (!disk.isMounted) context.skip('nothing may be mounted here')
    await using t = await createTestRuntime({ dir: disk.path })
    const { runId } = await t.submit()
    await quiet()
    fillUp(join(disk.path, 'fill'))
    const file = t.runtime.inputs.prepare({
      sessionId: t.session.id,
      origin: 'window',
      itemIndex: 0,
      kind: 'file',
      hints: { filename: 'a.bin' },
      open: async () => ({
        stream: (async function* () {
          for (let n = 0; n < 8; n++) yield Buffer.alloc(500_000, n)
        })(),
      }),
    })
    await expect(file).rejects.toMatchObject({ code: expect.stringMatching(/^(storage_full|input_root_unwritable)$/) })
    t.executor.last().text(LONG)
    t.executor.last().end()
    await t.clock.advance(2_000)
    expect(t.runtime.runs.get(runId).state).toBe('running')
    const more = t.runtime.sessions.create({ agentId: 'claude', workDir: disk.path, createdVia: 'desktop' })
    await expect(more).rejects.toMatchObject({ code: 'storage_full' })
    rmSync(join(disk.path, 'fill'))
    await t.clock.advance(3_000)
    expect(t.runtime.runs.get(runId).state).toBe('completed')
    expect(t.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  })

  test('that may only be read from refuses the start with a sentence, and changes nothing', async (context) => {
    using dir = createTempDir()
    using disk = mountAt(dir.at('disk'), '8m')
    if (!disk.isMounted) context.skip('nothing may be mounted here')
    const first = await openPlatform({ dataDir: join(disk.path, 'data'), migrations: runtimeMigrations })
    await first.close()
    execFileSync('mount', ['-o', 'remount,ro', disk.path], { stdio: 'ignore' })
    for (const folder of ['data', 'new']) {
      const start = openPlatform({ dataDir: join(disk.path, folder), migrations: runtimeMigrations })
      await expect(start).rejects.toMatchObject({
        code: 'data_dir_unwritable',
        message: expect.stringContaining('the disk can only be read'),
      })
    }
  })

  test('whose folder is gone refuses a prompt by code, and takes it when it is back', async () => {
    await using t = await createTestRuntime()
    const workDir = join(t.dir, 'project')
    mkdirSync(workDir)
    const { id } = await t.runtime.sessions.create({ agentId: 'claude', workDir, createdVia: 'desktop' })
    rmSync(workDir, { recursive: true })
    await expect(t.submit({ sessionId: id })).rejects.toThrow(code('work_dir_missing'))
    mkdirSync(workDir)
    await expect(t.submit({ sessionId: id })).resolves.toMatchObject({ replayed: false })
  })
})
