/** `wheelhouse schedule` as its own processes, from the built entry, over one data folder. Few hosts: each start costs. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { procedures } from '../../../src/shared/bridge/index.ts'
import { ensureBuilt } from '../host/support/built.ts'
import { createMachine } from '../host/support/command.ts'
import type { Machine, Started } from '../host/support/command.ts'

// Processes are started; a busy machine takes its time over them.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

let machine: Machine

beforeAll(async () => {
  await ensureBuilt()
  machine = createMachine()
})
afterAll(() => machine[Symbol.asyncDispose]())

async function serve(): Promise<Started> {
  const serving = machine.start(['serve'])
  await serving.says(/Wheelhouse is running/)
  return serving
}

const listed = async () => {
  const { stdout } = await machine.run(['schedule', 'list', '--json'])
  return procedures['schedules.list'].output.parse(JSON.parse(stdout))
}

test('wrong usage is told before anything is opened', async () => {
  const tries = [
    ['schedule', 'often'],
    ['schedule', 'add', '--agent', 'builtin', 'Hi'],
    ['schedule', 'run'],
  ]
  const ended = await Promise.all(tries.map((args) => machine.run(args)))
  expect(ended.map(({ code, stderr }) => [code, stderr.includes('Usage: wheelhouse')])).toEqual(
    tries.map(() => [2, true]),
  )
})

test('schedules are added and removed in a host that is open, and what the policy refuses is exit code 3', async () => {
  const serving = await serve()
  const folder = machine.at('answers')
  mkdirSync(folder)
  const target = { kind: 'file_drop', name: 'Answers', folder, runs: 'named' }
  expect((await machine.run(['call', 'deliveries.targets.save', JSON.stringify({ target })])).code).toBe(0)

  const asked = ['--agent', 'builtin', '--provider', 'rehearsal', '--dir', machine.project]
  const when = ['--name', 'Nightly', '--cron', '0 3 * * *', '--zone', 'Europe/Berlin', '--deliver', 'answers']
  const added = await machine.run(['schedule', 'add', ...asked, ...when, '--mode', 'yolo', 'Add a line.'])
  expect(added).toMatchObject({ code: 0, stderr: expect.stringMatching(/^"Nightly" is due next \d{4}-\d\d-\d\d/) })
  await machine.run([
    'schedule',
    'add',
    ...asked,
    '--mode',
    'plan',
    '--name',
    'Plan',
    '--cron',
    '@daily',
    'Add a line.',
  ])
  expect((await machine.run(['schedule', 'run', 'plan'])).code).toBe(3)
  expect(await machine.run(['schedule', 'remove', 'Plan'])).toMatchObject({ code: 0 })
  expect(await machine.run(['schedule', 'run', 'Plan'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('[schedule_not_found]'),
  })
  const { schedules, executing } = await listed()
  expect([schedules.map(({ id, name }) => [id, name]), executing]).toEqual([[[added.stdout.trim(), 'Nightly']], true])
  serving.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ code: 0 })
})

test('a schedule runs to its end in a host of its own, and a host that stays open starts what is due and delivers', async () => {
  const ran = await machine.run(['schedule', 'run', 'nightly'])
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) })
  expect(machine.workers()).toEqual([])

  // The clock cannot be moved: the time is, while nothing is open.
  const db = new Database(join(machine.data, 'wheelhouse.db'))
  const dueAt = Date.now() - 1_000
  db.prepare('UPDATE schedules SET next_at = ?').run(dueAt)
  db.close()
  const serving = await serve()
  const last = async () => (await listed()).schedules[0]?.last
  await expect.poll(last, { timeout: 60_000, interval: 200 }).toMatchObject({
    dueAt,
    outcome: 'started',
    runState: 'completed',
  })
  const answers = (): string[] => readdirSync(machine.at('answers')).filter((name) => name.endsWith('.md'))
  await expect.poll(() => answers().length, { timeout: 60_000, interval: 200 }).toBe(2)
  const texts = answers().map((name) => readFileSync(machine.at('answers', name), 'utf8').trim())
  expect(texts.some((text) => ran.stdout.includes(text.split('\n').at(-1) ?? ''))).toBe(true)
  expect(await machine.run(['schedule', 'pause', 'Nightly'])).toMatchObject({ code: 0, stderr: 'It is paused.\n' })
  expect((await listed()).schedules).toMatchObject([{ enabled: false, nextAt: null }])
  serving.kill('SIGTERM')
  expect(await serving.ended).toMatchObject({ code: 0 })
})
