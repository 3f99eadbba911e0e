import { setTimeout as wait } from 'node:timers/promises'
import { createTempDir } from '../support/dir.ts'
import { busyMs, connectTo, residentMB, startHost } from './host-process.ts'
import { openPromptedSession } from './prompts.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'
import { readWal } from './wal.ts'

const STARTS = 5
const IDLE_MS = 10_000
const PROMPTS = 5
const QUIET_MS = 60_000
const QUIET_SESSIONS = 200

/** From the start of the process to the first page, on a data folder that is new and on one that has been used. */
export const hostStart: Benchmark = {
  name: 'host-start',
  how: 'From the start of `node out/main/serve.js` until the printed link answers `GET /` with 200.',
  async run() {
    const fresh: number[] = []
    const used: number[] = []
    using usedDir = createTempDir()
    await useOnce(usedDir.at('data'), usedDir.path)
    for (let round = 0; round < STARTS; round++) {
      using freshDir = createTempDir()
      fresh.push(await timeOfStart(freshDir.at('data')))
      used.push(await timeOfStart(usedDir.at('data')))
    }
    return [startFigure('ready, fresh data folder', fresh), startFigure('ready, used data folder', used)]
  },
}

function startFigure(name: string, samples: readonly number[]): Figure {
  return { name, unit: 'ms', value: median(samples), samples, target: { kind: 'at_most', value: 2_000 } }
}

async function timeOfStart(dataDir: string): Promise<number> {
  await using host = await startHost(dataDir)
  return host.readyMs
}

async function useOnce(dataDir: string, workDir: string): Promise<void> {
  await using _host = await startHost(dataDir)
  using bridge = await connectTo(dataDir)
  await using session = await openPromptedSession(bridge, workDir)
  await session.prompt()
}

/** What the host keeps in memory when nothing happens: one session that was prompted once, its worker kept warm. */
export const hostIdle: Benchmark = {
  name: 'host-idle',
  how: 'Resident memory (VmRSS) of the browser host, 10 s idle: with one session that was only made, and with its first prompt answered in the same process. The worker is a process of its own and not counted. Linux only.',
  async run() {
    using dir = createTempDir()
    await using host = await startHost(dir.at('data'))
    using bridge = await connectTo(dir.at('data'))
    await using session = await openPromptedSession(bridge, dir.path)
    await wait(IDLE_MS)
    const made = residentMB(host.pid)
    await session.prompt()
    await wait(IDLE_MS)
    const prompted = residentMB(host.pid)
    return made === null || prompted === null
      ? []
      : [memoryFigure('idle, one session', made), memoryFigure('idle, one session after a prompt', prompted)]
  },
}

function memoryFigure(name: string, value: number): Figure {
  return { name, unit: 'MB', value, samples: [value], target: { kind: 'at_most', value: 150 } }
}

/** DT-A39: what a window costs in which nothing happens. */
export const hostQuiet: Benchmark = {
  name: 'host-quiet',
  how: `Time at work of the browser host in ${QUIET_MS / 1_000} s, with ${QUIET_SESSIONS} idle sessions and one window that follows all of them and one in particular. Linux only.`,
  async run() {
    using dir = createTempDir()
    await using host = await startHost(dir.at('data'))
    using bridge = await connectTo(dir.at('data'))
    let sessionId = ''
    for (let n = 0; n < QUIET_SESSIONS; n++) {
      sessionId = (await bridge.call('sessions.create', { agentId: 'builtin', workDir: dir.path })).id
    }
    const observer = { event: () => undefined, ended: () => undefined }
    const leave = [
      bridge.subscribe('sessions', {}, observer),
      bridge.subscribe('decisions', {}, observer),
      bridge.subscribe('workers', {}, observer),
      bridge.subscribe('providers', {}, observer),
      bridge.subscribe('session.events', { sessionId }, observer),
    ]
    await wait(IDLE_MS)
    const before = busyMs(host.pid)
    await wait(QUIET_MS)
    const after = busyMs(host.pid)
    for (const each of leave) each()
    if (before === null || after === null) return []
    const value = after - before
    const target = { kind: 'at_most' as const, value: QUIET_MS / 100 }
    return [{ name: 'at work in a minute', unit: 'ms', value, samples: [value], target }]
  },
}

/** Counted in SQLite's own log, so that no commit of any system is missed. */
export const warmPrompt: Benchmark = {
  name: 'warm-prompt',
  how: 'Commits in the write-ahead log of the running host per prompt to a warm worker that answers with one short text, through bridge, runtime, worker and Router.',
  async run() {
    using dir = createTempDir()
    const dataDir = dir.at('data')
    await using _host = await startHost(dataDir)
    using bridge = await connectTo(dataDir)
    await using session = await openPromptedSession(bridge, dir.path)
    await session.prompt()
    const database = `${dataDir}/wheelhouse.db`
    const samples: number[] = []
    while (samples.length < PROMPTS) {
      await wait(500)
      const before = readWal(database)
      await session.prompt()
      await wait(500)
      const after = readWal(database)
      if (after.salt === before.salt) samples.push(after.commits - before.commits)
    }
    const value = median(samples)
    return [{ name: 'commits a prompt', unit: 'commits', value, samples, target: { kind: 'at_most', value: 3 } }]
  },
}
