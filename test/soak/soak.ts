/** A real host with real agents, and clients over its socket that all work on the same sessions. Afterwards every row is looked at. */
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { connectBridge } from '../main/host/support/client.ts'
import { createMachine } from '../main/host/support/command.ts'
import { auditOf } from '../support/invariants.ts'
import type { ClientOptions, ClientReport } from './client.ts'

const CLIENT = join(import.meta.dirname, 'client.ts')
const SETTLE_MS = 120_000

export interface SoakOptions {
  sessions: number
  clients: number
  seconds: number
  seed: number
  /** Told what is going on, about once a minute. */
  progress?: (text: string) => void
}

export interface SoakOutcome {
  calls: number
  runs: number
  events: number
  refusals: Record<string, number>
  violations: string[]
}

/** `ensureBuilt` comes first. */
export async function soak(options: SoakOptions): Promise<SoakOutcome> {
  await using machine = createMachine()
  const host = machine.start([], { entry: 'serve' })
  await host.says(/Wheelhouse is running/)
  const bridge = await connectBridge(machine.data)
  const sessionIds: string[] = []
  for (let n = 0; n < options.sessions; n++) {
    const workDir = join(machine.project, `folder-${n}`)
    mkdirSync(join(workDir, 'build'), { recursive: true })
    writeFileSync(join(workDir, 'notes.txt'), 'one\ntwo\n')
    sessionIds.push((await bridge.call('sessions.create', { agentId: 'builtin', workDir, mode: 'agent' })).id)
  }

  const clients = await Promise.all(
    Array.from({ length: options.clients }, (_, n) =>
      startClient({ dataDir: machine.data, sessionIds, seed: options.seed + 1_000 * (n + 1) }),
    ),
  )
  for (let left = options.seconds; left > 0; left -= 60) {
    await pause(Math.min(60, left) * 1_000)
    options.progress?.(`${Math.max(0, left - 60)} s to go`)
  }

  const violations: string[] = []
  for (const client of clients) client.tell('settle')
  if (!(await settled())) violations.push('a run did not come to its end')
  for (const client of clients) client.tell('report')
  const reports = await Promise.all(clients.map(({ report }) => report))
  bridge.close()
  host.kill('SIGTERM')
  const { code } = await host.ended
  if (code !== 0) violations.push(`the host ended with ${code}: ${host.stderr()}`)
  const left = machine.workers()
  if (left.length > 0) violations.push(`${left.length} agents outlived the host`)

  const path = join(machine.data, 'wheelhouse.db')
  violations.push(...auditOf(path), ...reports.flatMap((each) => each.violations))
  using db = openReadonly(path)
  for (const sessionId of sessionIds) {
    const stored = digestOf(db.events(sessionId))
    for (const [n, { seen }] of reports.entries()) {
      if (seen[sessionId]?.digest === stored.digest) continue
      violations.push(
        `client ${n} saw ${seen[sessionId]?.events} other events of ${sessionId} than the ${stored.events} stored`,
      )
    }
  }
  const open = db.count(`SELECT count(*) FROM worker_records WHERE state IN ('starting', 'live', 'held')`)
  if (open > 0) violations.push(`${open} agents are still on record`)
  return {
    calls: reports.reduce((sum, { calls }) => sum + calls, 0),
    runs: db.count('SELECT count(*) FROM runs'),
    events: db.count('SELECT count(*) FROM run_events'),
    refusals: merge(reports.map(({ refusals }) => refusals)),
    violations,
  }

  /** Whether all that ran has ended, what it asked being answered. A queued draft begins another run. */
  async function settled(): Promise<boolean> {
    let quiet = 0
    for (const began = performance.now(); performance.now() - began < SETTLE_MS; await pause(200)) {
      const { sessions } = await bridge.call('sessions.list', { limit: 500 })
      const running = sessions.filter(({ activeRun }) => activeRun !== null)
      quiet = running.length === 0 ? quiet + 1 : 0
      if (quiet >= 3) return true
      for (const { id } of running) await bridge.call('runs.stop', { sessionId: id })
    }
    return false
  }
}

interface Client {
  tell(what: 'settle' | 'report'): void
  report: Promise<ClientReport>
}

async function startClient(options: ClientOptions): Promise<Client> {
  const child = fork(CLIENT, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const { promise: ready, resolve: isReady } = Promise.withResolvers<void>()
  const report = new Promise<ClientReport>((resolve, reject) => {
    child.on('message', (message) => (message === 'ready' ? isReady() : resolve(message as ClientReport)))
    child.once('exit', (code) => reject(new Error(`a client ended with ${code}`)))
  })
  await Promise.race([ready, report])
  return { tell: (what) => void child.send(what), report }
}

function openReadonly(path: string) {
  const db = new Sqlite(path, { readonly: true, timeout: 5_000 })
  return {
    events: (sessionId: string) =>
      db
        .prepare<[string], { seq: number; type: string; data: string }>(
          'SELECT seq, type, data FROM run_events WHERE session_id = ? ORDER BY seq',
        )
        .all(sessionId),
    count: (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0,
    [Symbol.dispose]: () => void db.close(),
  }
}

function digestOf(events: readonly { seq: number; type: string; data: string }[]): { events: number; digest: string } {
  const hash = createHash('sha256')
  for (const { seq, type, data } of events) hash.update(JSON.stringify([seq, type, JSON.parse(data)]))
  return { events: events.length, digest: hash.digest('hex') }
}

function merge(all: readonly Record<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const each of all) for (const [code, count] of Object.entries(each)) sums[code] = (sums[code] ?? 0) + count
  return sums
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
