/** A host that dies, or is told to end, at the worst moment; each as a process of its own. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { ensureBuilt } from './support/built.ts'
import { allowEverything, connectBridge, follow, isEnd } from './support/client.ts'
import { createMachine } from './support/command.ts'
import type { Machine, Started } from './support/command.ts'

const RUNNING = /Wheelhouse is running\. Open (http:\/\/\S+)/
/** In a session of its own, deaf to what would end an ordinary child. */
const STUBBORN = `run: setsid sh -c 'trap "" TERM HUP INT; echo up > up.txt; while :; do sleep 60; done'`

let machine: Machine

// Each test starts processes; a busy machine takes its time over them.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })
beforeAll(ensureBuilt)
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => machine[Symbol.asyncDispose]())

async function serve(): Promise<Started> {
  const host = machine.start([], { entry: 'serve' })
  await host.says(RUNNING)
  return host
}

async function begin(bridge: Bridge, text: string) {
  const session = await bridge.call('sessions.create', { agentId: 'builtin', workDir: machine.project, mode: 'agent' })
  const events = follow(bridge, session.id)
  const { runId } = await bridge.call('runs.submit', { sessionId: session.id, text })
  return { sessionId: session.id, runId, events }
}

const rows = (sql: string): unknown[] => {
  const db = new Sqlite(join(machine.data, 'wheelhouse.db'), { readonly: true })
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

const eventually = async (what: () => boolean): Promise<boolean> => {
  for (let tries = 0; tries < 600; tries++) {
    if (what()) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return what()
}

describe('a host killed in the middle of a run', () => {
  test('DT-A07 leaves no worker, no route and no doubt behind once it is started again, and the agent remembers', async () => {
    const first = await serve()
    const before = await connectBridge(machine.data)
    allowEverything(before)
    const { sessionId, runId } = await begin(before, STUBBORN)
    expect(await eventually(() => machine.workers().length >= 3)).toBe(true)
    first.kill('SIGKILL')
    await first.ended

    const second = await serve()
    expect(await eventually(() => machine.workers().length === 0)).toBe(true)
    const bridge = await connectBridge(machine.data)
    allowEverything(bridge)
    const recovered = follow(bridge, sessionId)
    const end = await recovered.until(isEnd(runId))
    expect(end).toMatchObject({
      state: 'failed',
      data: {
        error: { code: 'owner_lost', message: expect.stringContaining('ended while') },
        sideEffects: 'unknown',
      },
    })
    expect(rows(`SELECT * FROM worker_records WHERE state IN ('starting','live','held')`)).toEqual([])
    expect(rows('SELECT * FROM routes')).toEqual([])

    writeFileSync(join(machine.project, 'notes.txt'), 'one\ntwo\n')
    const known = rows('SELECT agent_session_id FROM agent_sessions')
    const next = await bridge.call('runs.submit', { sessionId, text: 'Add a line.' })
    const ended = await recovered.until(isEnd(next.runId))
    expect(ended.state).toBe('completed')
    expect(rows('SELECT agent_session_id FROM agent_sessions')).toEqual(known)
    expect(
      recovered.events.filter(({ type, data }) => type === 'notice' && data['code'] === 'conversation_begun_anew'),
    ).toEqual([])
    second.kill('SIGTERM')
    expect((await second.ended).code).toBe(0)
    expect(machine.workers()).toEqual([])
  })

  test('DT-A27 gives the data folder free at once', async () => {
    const first = await serve()
    first.kill('SIGKILL')
    await first.ended
    const second = await serve()
    expect(second.stdout()).toMatch(RUNNING)
  })
})

describe('a host told to end', () => {
  test('while it starts, it ends in order and can be started again', async () => {
    for (const afterMs of [0, 200, 400, 700]) {
      const host = machine.start([], { entry: 'serve' })
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      host.kill('SIGTERM')
      const { code, signal } = await host.ended
      // Before its first line of code ran, the system ends it.
      expect(code === 0 || signal === 'SIGTERM').toBe(true)
      expect(host.stderr()).not.toMatch(/\n {4}at /)
    }
    const host = await serve()
    expect(host.stdout()).toMatch(RUNNING)
  })

  test('DT-A40 in the middle of a run ends the run and all its processes, and itself', async () => {
    const host = await serve()
    const bridge = await connectBridge(machine.data)
    allowEverything(bridge)
    const { sessionId } = await begin(bridge, STUBBORN)
    expect(await eventually(() => machine.workers().length >= 3)).toBe(true)
    host.kill('SIGTERM')
    expect((await host.ended).code).toBe(0)
    expect(machine.workers()).toEqual([])
    expect(rows(`SELECT state FROM runs WHERE session_id = '${sessionId}'`)).toEqual([{ state: 'cancelled' }])
    expect(rows(`SELECT * FROM worker_records WHERE state IN ('starting','live','held')`)).toEqual([])
  })

  test('twice, it leaves at once, and the next start settles the rest', async () => {
    const host = await serve()
    const bridge = await connectBridge(machine.data)
    allowEverything(bridge)
    const { sessionId, runId } = await begin(bridge, STUBBORN)
    expect(await eventually(() => machine.workers().length >= 3)).toBe(true)
    // None of them can do what it is asked, so that the stop has to wait for them.
    for (const pid of machine.workers()) process.kill(pid, 'SIGSTOP')
    host.kill('SIGTERM')
    await host.says(/Stopping\./)
    // What comes within 300 ms is taken for an echo of the first.
    await new Promise((resolve) => setTimeout(resolve, 400))
    host.kill('SIGTERM')
    expect((await host.ended).code).toBe(130)
    await serve()
    expect(await eventually(() => machine.workers().length === 0)).toBe(true)
    const end = await follow(await connectBridge(machine.data), sessionId).until(isEnd(runId))
    // The agent may have been told to stop by then, or not.
    expect(['cancelled', 'failed']).toContain(end.state)
  })
})

describe('an agent killed in the middle of its turn', () => {
  test('fails the run with a sentence, and the next prompt works', async () => {
    await serve()
    const bridge = await connectBridge(machine.data)
    allowEverything(bridge)
    const { sessionId, runId, events } = await begin(bridge, 'Count slowly.')
    await events.until(({ type }) => type === 'output_text')
    const { workers } = await bridge.call('workers.list', {})
    process.kill(workers[0]?.pid ?? -1, 'SIGKILL')
    const end = await events.until(isEnd(runId))
    expect(end).toMatchObject({
      state: 'failed',
      data: { error: { code: expect.stringMatching(/^worker_(killed|exited)$/) } },
    })
    expect(end.data['error']).toMatchObject({ message: expect.stringMatching(/\w+.*\./) })
    expect(await eventually(() => machine.workers().length === 0)).toBe(true)

    writeFileSync(join(machine.project, 'notes.txt'), 'one\n')
    const next = await bridge.call('runs.submit', { sessionId, text: 'Add a line.' })
    expect((await events.until(isEnd(next.runId))).state).toBe('completed')
    expect(readFileSync(join(machine.project, 'notes.txt'), 'utf8')).toContain('Rehearsed')
  })
})
