/** A database of years: what a start, a page, a turn and a search cost does not depend on how much there is. */
import { openPlatform, pathsIn } from '../../src/main/platform/index.ts'
import { hostMigrations } from '../../src/main/host.ts'
import { createRuntime, readHostIdentity } from '../../src/main/runtime/index.ts'
import type { Runtime } from '../../src/main/runtime/index.ts'
import { createFakeExecutor } from '../main/runtime/support/fake-executor.ts'
import { createTempDir } from '../support/dir.ts'
import { connectTo, startHost } from './host-process.ts'
import { timedAsync } from './compare.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

const SESSIONS = 1_000
const RUNS_A_SESSION = 20
const EVENTS_A_RUN = 50
/** One session has all that a twentieth of the others have. */
const LONG_SESSION = 1
const LONG_RUNS = 1_000
/** Runs that a crash left behind. */
const LOST = 8
const STARTS = 3
const PAGE = 500
const READINGS = 5

export const largeDatabase: Benchmark = {
  name: 'runtime-large',
  group: 'runtime',
  how: `A data folder of ${SESSIONS} sessions and 1,000,000 events, one session alone of ${LONG_RUNS * EVENTS_A_RUN}. The start of the real host with ${LOST} runs that a crash left, until a client has the list of sessions, one of them to read, and every lost run has ended; pages of the log, turns and searches by the runtime's door.`,
  async run() {
    using dir = createTempDir()
    const dataDir = dir.at('data')
    await fill(dataDir, dir.path)
    const starts: number[] = []
    for (let round = 0; round <= STARTS; round++) {
      await leaveBehind(dataDir)
      const ms = await usableAfter(dataDir)
      // The first one reads the file into memory.
      if (round > 0) starts.push(ms)
    }
    return [atMost('start to a usable window, 8 runs recovered', starts, 2_000), ...(await readingIn(dataDir))]
  },
}

function atMost(name: string, samples: readonly number[], ms: number, value = median(samples)): Figure {
  return { name, unit: 'ms', value, samples, target: { kind: 'at_most', value: ms } }
}

const sessionId = (n: number | string): string => `printf('01900000-0000-7000-8000-%012x', ${n})`
const runId = (n: number | string): string => `printf('01900000-0000-7001-8000-%012x', ${n})`

/** As the runtime would have written it, by statements over whole tables: a million transactions would take an hour. */
async function fill(dataDir: string, workDir: string): Promise<void> {
  const platform = await openPlatform({ dataDir, migrations: hostMigrations })
  const { db } = platform.store
  const series = (count: number): string => `n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
  const runs = SESSIONS * RUNS_A_SESSION
  const policy = JSON.stringify({
    source: 'browser',
    entrySource: 'browser',
    mode: 'agent',
    forced: false,
    unattended: false,
    sandbox: 'none',
    roots: [workDir],
    connectionId: null,
    modelId: null,
    effort: 'default',
    skills: [],
    mcpServers: [],
    mcpRequired: [],
    decisionTtlMs: null,
    maxRunMs: 3_600_000,
  })
  // Which session a run is of: the long one has the first thousand.
  const sessionOf = `(CASE WHEN i <= ${LONG_RUNS} THEN ${LONG_SESSION} ELSE 2 + (i - ${LONG_RUNS} - 1) % ${SESSIONS - 1} END)`
  const now = Date.now()
  db.exec(`
    BEGIN;
    WITH RECURSIVE ${series(SESSIONS)}
    INSERT INTO sessions (id, title, title_by, agent_id, work_dir, created_via, mode, created_at, updated_at)
    SELECT ${sessionId('i')}, 'Session number ' || i, 'person', 'builtin', '${workDir}', 'browser', 'agent', ${now} - i * 1000, ${now} - i * 1000 FROM n;
    CREATE TEMP TABLE planned AS WITH RECURSIVE ${series(runs)}
      SELECT i, ${runId('i')} AS run, ${sessionId(sessionOf)} AS session,
        row_number() OVER (PARTITION BY ${sessionOf} ORDER BY i) AS nth FROM n;
    INSERT INTO intents (id, session_id, source, entry_source, fingerprint, request, policy, created_at)
    SELECT 'i' || run, session, 'browser', 'browser', 'f', '{"text":"go","inputIds":[],"requestedMode":null,"literal":false}', '${policy}', ${now} - 1000000 + i FROM planned;
    INSERT INTO runs (id, session_id, intent_id, source, mode, policy, state, accepted, created_at, started_at, updated_at, finished_at)
    SELECT run, session, 'i' || run, 'browser', 'agent', '${policy}', 'completed', 1, ${now} - 1000000 + i, ${now} - 1000000 + i, ${now} - 1000000 + i, ${now} - 1000000 + i FROM planned;
    INSERT INTO turns (id, session_id, intent_id, run_id, status, start_seq, end_seq, started_at, ended_at)
    SELECT 't' || run, session, 'i' || run, run, 'completed', (nth - 1) * 4 + 1, nth * 4, ${now}, ${now} FROM planned;
    INSERT INTO entries (id, session_id, seq, turn_id, run_id, kind, body, created_at)
    SELECT 'e' || run || k, session, (nth - 1) * 4 + k, 't' || run, run,
      CASE k WHEN 1 THEN 'turn_start' WHEN 2 THEN 'user' WHEN 3 THEN 'assistant' ELSE 'turn_end' END,
      CASE k WHEN 2 THEN json_object('text', 'please do number ' || i || ' of the many things')
        WHEN 3 THEN json_object('text', 'the answer number ' || i || ' is about ' || CASE i % 2000 WHEN 0 THEN 'rarities' ELSE 'common things' END)
        ELSE '{}' END, ${now}
    FROM planned JOIN (SELECT 1 AS k UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) ORDER BY i, k;
    INSERT INTO run_events (session_id, seq, run_id, type, state, at, dedupe_key, data)
    SELECT session, (nth - 1) * ${EVENTS_A_RUN} + k, run,
      CASE k WHEN 1 THEN 'run_created' WHEN ${EVENTS_A_RUN} THEN 'run_finished' ELSE 'output_text' END,
      CASE k WHEN 1 THEN 'created' WHEN ${EVENTS_A_RUN} THEN 'completed' END, ${now}, CASE k WHEN ${EVENTS_A_RUN} THEN 'end:' || run || ':0' END,
      CASE k WHEN 1 THEN json_object('intentId', 'i' || run, 'attempt', 1, 'retryOf', NULL, 'source', 'browser', 'entrySource', 'browser',
          'mode', 'agent', 'provider', NULL, 'model', NULL, 'turnId', 't' || run, 'prompt', 'please do number ' || i)
        WHEN ${EVENTS_A_RUN} THEN json_object('state', 'completed', 'entryId', NULL, 'stopReason', NULL, 'error', NULL, 'sideEffects', 'none', 'partialOutput', json('true'))
        ELSE json_object('messageId', 'm' || run, 'text', 'some words of an answer, part ' || k || ', and a little more of it ') END
    FROM planned JOIN (WITH RECURSIVE k(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM k WHERE k < ${EVENTS_A_RUN}) SELECT k FROM k)
    ORDER BY session, nth, k;
    UPDATE sessions SET last_event_seq = (SELECT count(*) FROM planned WHERE session = id) * ${EVENTS_A_RUN},
      last_entry_seq = (SELECT count(*) FROM planned WHERE session = id) * 4;
    INSERT INTO leases (session_id, epoch, token_hash, owner_instance, owner_pid, owner_host, purpose, run_id, state, acquired_at, heartbeat_at, expires_at)
    SELECT session, count(*), 't', 'gone', 1, 'gone', 'execution', max(run), 'released', 0, 0, 0 FROM planned GROUP BY session;
    DROP TABLE planned;
    COMMIT;`)
  db.pragma('wal_checkpoint(TRUNCATE)')
  await platform.close()
}

/** The newest run of each of the last sessions, as if its owner had been killed. */
async function leaveBehind(dataDir: string): Promise<void> {
  const platform = await openPlatform({ dataDir, migrations: hostMigrations })
  platform.store.db.exec(`
    CREATE TEMP TABLE lost AS SELECT max(id) AS run, session_id AS session FROM runs GROUP BY session_id ORDER BY session_id DESC LIMIT ${LOST};
    UPDATE runs SET state = 'running', finished_at = NULL, error = NULL, reopen_count = reopen_count + 1 WHERE id IN (SELECT run FROM lost);
    UPDATE turns SET status = 'open', end_seq = NULL, ended_at = NULL WHERE run_id IN (SELECT run FROM lost);
    UPDATE leases SET state = 'active', run_id = (SELECT run FROM lost WHERE session = session_id) WHERE session_id IN (SELECT session FROM lost);`)
  await platform.close()
}

async function usableAfter(dataDir: string): Promise<number> {
  const began = performance.now()
  await using _host = await startHost(dataDir)
  using bridge = await connectTo(dataDir)
  const { sessions } = await bridge.call('sessions.list', { limit: 100 })
  await bridge.call('sessions.snapshot', { sessionId: sessions[0]?.id ?? '', limit: 20 })
  for (;;) {
    const all = await bridge.call('sessions.list', { limit: 500, offset: SESSIONS - 500 })
    if (all.sessions.every(({ activeRun }) => activeRun === null)) return performance.now() - began
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function readingIn(dataDir: string): Promise<Figure[]> {
  const platform = await openPlatform({ dataDir, migrations: hostMigrations })
  const { clock, ids, log, files, secrets, store, failpoints } = platform
  const runtime = createRuntime({
    clock,
    ids,
    log,
    files,
    secrets,
    store,
    failpoints,
    paths: pathsIn(dataDir),
    executor: createFakeExecutor(),
    isHeld: () => false,
    host: readHostIdentity(),
  })
  try {
    return await readings(runtime)
  } finally {
    await runtime.stop()
    await platform.close()
  }
}

/** Of each place the median of some rounds; what counts is the slowest place. */
async function slowest(name: string, places: readonly (() => unknown)[], ms: number): Promise<Figure> {
  const medians: number[] = []
  for (const look of places) {
    const rounds: number[] = []
    while (rounds.length < READINGS) rounds.push(await timedAsync(async () => look()))
    medians.push(median(rounds))
  }
  return { name, unit: 'ms', value: Math.max(...medians), samples: medians, target: { kind: 'at_most', value: ms } }
}

async function readings(runtime: Runtime): Promise<Figure[]> {
  const sessionId = '01900000-0000-7000-8000-000000000001'
  const every = (from: number, to: number, step: number): number[] =>
    Array.from({ length: Math.ceil((to - from) / step) }, (_, n) => from + n * step)
  const pages = every(0, LONG_RUNS * EVENTS_A_RUN, 2_500).map(
    (afterSeq) => () => runtime.events.read({ sessionId, afterSeq, limit: PAGE }),
  )
  const befores = every(1, LONG_RUNS, 50).map((n) => `01900000-0000-7001-8000-${n.toString(16).padStart(12, '0')}`)
  const turns = befores.map((beforeTurn) => () => runtime.sessions.snapshot({ sessionId, beforeTurn, limit: 20 }))
  const lists = every(0, SESSIONS, 100).map(
    (offset) => () =>
      runtime.sessions.briefs(runtime.sessions.list({ limit: 100, offset }).sessions.map(({ id }) => id)),
  )
  const words = ['common', 'the answer common th', 'rarities', 'number 777', 'nowhere', 'Session number 99']
  const within = [1, SESSIONS].map((n) => () => {
    const sessionId = `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
    return runtime.sessions.search({ text: 'common', sessionId })
  })
  const searches = words.map((text) => () => runtime.sessions.search({ text }))
  return [
    await slowest(`a page of ${PAGE} events, at the slowest depth`, pages, 10),
    await slowest('20 turns of a transcript, at the slowest depth', turns, 100),
    await slowest('100 sessions of the list, each with its state', lists, 50),
    await slowest('a search of one session, for words that all others have', within, 100),
    await slowest('a search of all transcripts, for the slowest words', searches, 100),
  ]
}
