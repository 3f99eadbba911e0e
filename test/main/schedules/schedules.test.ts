/** Schedules over a real runtime and a real database, with a clock that the test moves. */
import { mkdirSync, rmdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createSchedules, scheduleMigrations } from '../../../src/main/schedules/index.ts'
import type { ScheduleFields, Schedules } from '../../../src/main/schedules/index.ts'
import { createFiringPort } from '../../../src/main/schedules-port.ts'
import type { SessionRuntimes } from '../../../src/main/executor/index.ts'
import { AppError } from '../../../src/shared/errors.ts'
import type { RuntimeChoice } from '../../../src/shared/vocabulary.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createTestRuntime, quiet } from '../runtime/support/runtime.ts'
import type { TestRuntime } from '../runtime/support/runtime.ts'

const LOGIN: RuntimeChoice = { connectionId: null, modelId: null, effort: 'default' }
const STEP = 300_000
const HOUR = 3_600_000

interface Rig {
  t: TestRuntime
  schedules: Schedules
  fields: Omit<ScheduleFields, 'timeZone'>
  /** Another process over the same database. */
  another(): Schedules
}

async function openRig(t: TestRuntime, set?: SessionRuntimes['set']): Promise<Rig> {
  for (const { up } of scheduleMigrations) up(t.store.db)
  const runtimes: Pick<SessionRuntimes, 'initial' | 'set'> = {
    initial: () => LOGIN,
    set:
      set ?? (async ({ expectedRev }) => ({ rev: expectedRev, effect: { kind: 'next_turn', historyStripped: false } })),
  }
  const port = createFiringPort(t.runtime, runtimes as SessionRuntimes)
  const open = (namespace: number): Schedules =>
    createSchedules({
      clock: t.clock,
      ids: createFakeIds(namespace),
      log: t.log,
      store: t.store,
      port,
      timeZone: 'UTC',
    })
  const fields = {
    name: 'Nightly',
    cron: '*/5 * * * *',
    agentId: 'claude' as const,
    workDir: t.dir,
    mode: 'agent' as const,
    choice: null,
    prompt: 'Look at the logs.',
    deliverTo: ['place-1'],
    catchUp: false,
    enabled: true,
  }
  return { t, schedules: open(7), fields, another: () => open(8) }
}

/** Waits on real files and the real database; the clock of the test stands still meanwhile. */
async function until(what: () => boolean): Promise<void> {
  await expect.poll(what, { timeout: 20_000, interval: 5 }).toBe(true)
}

/** To the next time that is due, and until what it starts has been started, or refused. */
async function toNextTime(t: TestRuntime, { schedules }: Pick<Rig, 'schedules'>): Promise<void> {
  const dueAt = only(schedules).nextAt ?? 0
  await t.clock.advance(dueAt - t.clock.nowMs())
  await until(() => (only(schedules).nextAt ?? 0) > dueAt)
  await until(() => t.executor.runs.length >= t.count('runs'))
}

/** A run is started once its executor has it. */
const started = (t: TestRuntime, count: number): Promise<void> => until(() => t.executor.runs.length === count)

/** Its agent is done with it. */
async function ended(t: TestRuntime): Promise<void> {
  const { runId } = t.executor.last().spec
  t.executor.last().end()
  await until(() => t.runtime.runs.get(runId).finishedAt !== null)
}

const only = (schedules: Schedules) => {
  const [schedule] = schedules.all()
  if (schedule === undefined) throw new Error('there is no schedule')
  return schedule
}

test('a schedule that is due starts one run under the policy of runs that nobody watches', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  const made = await schedules.create(fields)
  expect(made).toMatchObject({ rev: 1, sessionId: null, last: null, timeZone: 'UTC' })
  schedules.start()
  await toNextTime(t, { schedules })
  const { spec } = t.executor.last()
  expect(spec).toMatchObject({ agentId: 'claude', prompt: { text: 'Look at the logs.' } })
  expect(spec.policy).toMatchObject({
    source: 'cron',
    entrySource: 'cron',
    mode: 'agent',
    unattended: true,
    decisionTtlMs: 600_000,
    maxRunMs: 2 * HOUR,
  })
  const after = only(schedules)
  expect(after).toMatchObject({
    sessionId: spec.sessionId,
    nextAt: (made.nextAt ?? 0) + STEP,
    last: { outcome: 'started', runId: spec.runId, dueAt: made.nextAt, code: null },
  })
  expect(t.runtime.sessions.get(spec.sessionId)).toMatchObject({
    title: 'Nightly',
    policySource: 'cron',
    mode: 'agent',
  })
  expect(schedules.deliverTo(spec.sessionId)).toEqual(['place-1'])
  await schedules.stop()
})

test('its runs stand in one session, and a time at which the last one still runs is left out', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  await schedules.create(fields)
  schedules.start()
  await toNextTime(t, { schedules })
  await toNextTime(t, { schedules })
  expect(t.executor.runs).toHaveLength(1)
  expect(only(schedules).last).toMatchObject({ outcome: 'skipped', code: 'session_run_active', runId: null })
  await ended(t)
  await toNextTime(t, { schedules })
  expect(t.executor.runs.map(({ spec }) => spec.sessionId)).toEqual([
    t.executor.runs[0]?.spec.sessionId,
    t.executor.runs[0]?.spec.sessionId,
  ])
  await schedules.stop()
})

test('a person at the window may write into its session, under the policy of the schedule', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  await schedules.create(fields)
  const { sessionId } = await schedules.run(only(schedules).id, new AbortController().signal)
  await started(t, 1)
  await ended(t)
  await t.runtime.runs.submit({ sessionId, text: 'And now?', source: 'desktop' })
  await started(t, 2)
  expect(t.executor.last().spec.policy).toMatchObject({ source: 'cron', entrySource: 'desktop', unattended: true })
  expect(only(schedules).last).toMatchObject({ dueAt: null, outcome: 'started' })
})

test('a crash between the start and its record starts no second run', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields, another } = await openRig(t)
  const made = await schedules.create(fields)
  schedules.start()
  await toNextTime(t, { schedules })
  // As it would stand had the process died right after the admission.
  t.store.db.prepare('UPDATE schedules SET next_at = ?, last = NULL').run(made.nextAt)
  await schedules.stop()
  const next = another()
  next.start()
  await until(() => only(next).last !== null)
  expect(t.executor.runs).toHaveLength(1)
  expect(only(next).last).toMatchObject({ outcome: 'started', runId: t.executor.last().spec.runId })
  // Hours later it is found as well, and not called missed; nor where the prompt was changed since.
  t.store.db.prepare(`UPDATE schedules SET next_at = ?, last = NULL, prompt = 'Another.'`).run(made.nextAt)
  await next.stop()
  await ended(t)
  await t.clock.advance(3 * HOUR)
  const last = another()
  last.start()
  await until(() => only(last).last !== null)
  expect(t.executor.runs).toHaveLength(1)
  expect(only(last).last).toMatchObject({ outcome: 'started', runId: t.executor.last().spec.runId })
  await last.stop()
})

test('a time that passed while nothing was open is left out, or made up for once', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  await schedules.create(fields)
  await schedules.create({ ...fields, name: 'Backup', prompt: 'Back up.', catchUp: true })
  await t.clock.advance(26 * HOUR)
  schedules.start()
  await until(() => schedules.all().every(({ last }) => last !== null))
  await started(t, 1)
  expect(t.executor.runs.map(({ spec }) => spec.prompt.text)).toEqual(['Back up.'])
  const [backup, nightly] = schedules.all()
  expect(nightly?.last).toMatchObject({ outcome: 'skipped', code: 'missed' })
  expect(backup?.last).toMatchObject({ outcome: 'started' })
  expect([backup?.nextAt, nightly?.nextAt].every((next) => (next ?? 0) > t.clock.nowMs())).toBe(true)
  await schedules.stop()
})

test('a moment that refuses the start is waited out', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  await schedules.create(fields)
  const { submit } = t.runtime.runs
  let refusals = 0
  Object.assign(t.runtime.runs, {
    submit: (...args: Parameters<typeof submit>) => {
      if (refusals++ < 2) throw new AppError('database_busy', 'Busy.')
      return submit(...args)
    },
  })
  schedules.start()
  await t.clock.advance(STEP)
  await until(() => refusals === 1)
  expect([t.executor.runs.length, only(schedules).last]).toEqual([0, null])
  // Two more tries, 30 s apart.
  for (let step = 0; step < 9; step++) {
    await t.clock.advance(10_000)
    await quiet(8)
  }
  await until(() => only(schedules).last !== null)
  expect(refusals).toBe(3)
  expect(only(schedules).last).toMatchObject({ outcome: 'started' })
  await schedules.stop()
})

test('a folder that is gone fails that time, says so, and the next time comes', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  const workDir = `${t.dir}/gone`
  mkdirSync(workDir)
  await schedules.create({ ...fields, workDir })
  rmdirSync(workDir)
  schedules.start()
  await toNextTime(t, { schedules })
  expect(only(schedules)).toMatchObject({ last: { outcome: 'failed', code: 'work_dir_missing' }, sessionId: null })
  expect(only(schedules).nextAt ?? 0).toBeGreaterThan(t.clock.nowMs())
  await schedules.stop()
})

test('what is paused is never due, and a change of the time counts from now', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  const made = await schedules.create(fields)
  schedules.start()
  const paused = await schedules.update(made.id, 1, { enabled: false })
  expect(paused).toMatchObject({ rev: 2, nextAt: null })
  await t.clock.advance(2 * STEP)
  await quiet(8)
  expect(t.executor.runs).toHaveLength(0)
  await expect(schedules.update(made.id, 1, { enabled: true })).rejects.toMatchObject({
    code: 'config_conflict',
    data: { rev: 2 },
  })
  const resumed = await schedules.update(made.id, 2, { enabled: true, cron: '0 * * * *' })
  const untilDue = (resumed.nextAt ?? 0) - t.clock.nowMs()
  expect(untilDue > 0 && untilDue <= HOUR).toBe(true)
  await schedules.stop()
})

test('another agent begins another session; the old one and its answers stay', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  const made = await schedules.create(fields)
  const signal = new AbortController().signal
  const first = await schedules.run(made.id, signal)
  await started(t, 1)
  await ended(t)
  const moved = await schedules.update(made.id, 1, { agentId: 'codex' })
  expect(moved.sessionId).toBeNull()
  const second = await schedules.run(made.id, signal)
  expect(second.sessionId).not.toBe(first.sessionId)
  expect(t.runtime.sessions.get(first.sessionId)).toMatchObject({ agentId: 'claude', policySource: 'cron' })
  expect(await schedules.delete(made.id)).toBe(true)
  expect(await schedules.delete(made.id)).toBe(false)
  expect(t.runtime.sessions.get(second.sessionId)).toMatchObject({ agentId: 'codex' })
})

test('a deleted session is replaced at the next time', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  const made = await schedules.create(fields)
  const signal = new AbortController().signal
  const first = await schedules.run(made.id, signal)
  await started(t, 1)
  await ended(t)
  await t.runtime.sessions.delete(first.sessionId, signal)
  expect(only(schedules).sessionId).toBeNull()
  const second = await schedules.run(made.id, signal)
  expect(second.sessionId).not.toBe(first.sessionId)
})

test('the Provider of a schedule goes through the one door, and a refusal is what became of that time', async () => {
  await using t = await createTestRuntime()
  const asked: unknown[] = []
  const { schedules, fields } = await openRig(t, async ({ choice, expectedRev }) => {
    asked.push(choice)
    return { rev: expectedRev, effect: { kind: 'refused', code: 'route_binding_incompatible' } }
  })
  const made = await schedules.create(fields)
  await schedules.run(made.id, new AbortController().signal)
  await started(t, 1)
  await ended(t)
  const choice = { connectionId: 'c', modelId: 'm', effort: 'default' as const }
  await schedules.update(made.id, 1, { choice })
  schedules.start()
  await toNextTime(t, { schedules })
  expect(asked).toEqual([choice])
  expect(only(schedules).last).toMatchObject({ outcome: 'failed', code: 'route_binding_incompatible' })
  await schedules.stop()
})

test('names are kept apart, a folder is named whole, and a time must be one', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  await schedules.create(fields)
  await expect(schedules.create({ ...fields, name: 'NIGHTLY' })).rejects.toMatchObject({ code: 'input_invalid' })
  await expect(schedules.create({ ...fields, name: 'B', workDir: 'here' })).rejects.toMatchObject({
    code: 'input_invalid',
  })
  await expect(schedules.create({ ...fields, name: 'B', cron: 'often' })).rejects.toMatchObject({
    code: 'schedule_invalid',
  })
  await expect(schedules.create({ ...fields, name: 'B', cron: '0 0 31 2 *' })).rejects.toMatchObject({
    code: 'schedule_invalid',
    message: 'That time never comes.',
  })
  await expect(schedules.create({ ...fields, name: 'B', workDir: `${t.dir}/gone` })).rejects.toMatchObject({
    code: 'work_dir_missing',
  })
  expect(() => schedules.get('none')).toThrow(expect.objectContaining({ code: 'schedule_not_found' }))
  expect(schedules.times('0 9 * * *').times).toHaveLength(5)
})

test('without a schedule that is on there is no timer', async () => {
  await using t = await createTestRuntime()
  const { schedules, fields } = await openRig(t)
  const before = t.clock.pending()
  schedules.start()
  expect(t.clock.pending()).toBe(before)
  await schedules.create({ ...fields, enabled: false })
  expect(t.clock.pending()).toBe(before)
  await schedules.stop()
})
