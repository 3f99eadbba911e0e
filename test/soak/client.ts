/**
 * One client of a running host, in a process of its own: `node client.ts '<JSON>'`. Does one random thing after another to
 * the sessions it was given, until its parent says so; then tells what it saw.
 */
import { createHash } from 'node:crypto'
import { AppError } from '../../src/shared/errors.ts'
import { connectBridge, follow } from '../main/host/support/client.ts'
import type { SessionEvent } from '../main/host/support/client.ts'

export interface ClientOptions {
  dataDir: string
  sessionIds: string[]
  seed: number
}

export interface ClientReport {
  calls: number
  /** What was refused, by code: most of it is two clients that want the same. */
  refusals: Record<string, number>
  /** Per session: how many events came, and a digest of them. */
  seen: Record<string, { events: number; digest: string }>
  violations: string[]
}

/** Life, where several people work on the same sessions. */
const EXPECTED = new Set([
  'session_run_active',
  'session_busy',
  'no_active_run',
  'config_conflict',
  'draft_conflict',
  'steer_unavailable',
  'run_ending',
  'run_queue_full',
  'retry_not_latest',
  'retry_needs_decision',
  'retry_limit',
  'run_not_found',
  'run_transition_invalid',
  'decision_value_invalid',
  'fork_source_active',
  'fork_no_completed_turn',
  'worker_still_alive',
])

const options = JSON.parse(process.argv[2] ?? '') as ClientOptions
const { sessionIds } = options
const bridge = await connectBridge(options.dataDir)
const report: ClientReport = { calls: 0, refusals: {}, seen: {}, violations: [] }
const followed = new Map(sessionIds.map((sessionId) => [sessionId, follow(bridge, sessionId)]))
const open = new Set<string>()
bridge.subscribe(
  'decisions',
  {},
  {
    event(event) {
      for (const { decisionId, status } of event.kind === 'snapshot' ? event.decisions : [event.decision]) {
        if (status === 'pending') open.add(decisionId)
        else open.delete(decisionId)
      }
    },
  },
)

/** Numbers in the order of a seed, so that what broke can be played again. */
let state = options.seed
function random(below: number): number {
  state = (state * 48_271) % 2_147_483_647
  return state % below
}
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T

const PROMPTS = ['Add a line.', 'run: echo one && echo two', 'Count slowly.', 'run: rm -rf build', 'Hello.']

const ACTIONS: readonly ((sessionId: string) => Promise<unknown>)[] = [
  (sessionId) => bridge.call('runs.submit', { sessionId, text: pick(PROMPTS) }),
  (sessionId) => bridge.call('runs.submit', { sessionId, text: pick(PROMPTS), key: `key-${random(1_000_000)}` }),
  (sessionId) => bridge.call('runs.stop', { sessionId }),
  answer,
  answer,
  answer,
  (sessionId) => bridge.call('sessions.rename', { sessionId, title: `Name ${random(100)}` }),
  (sessionId) => bridge.call('sessions.snapshot', { sessionId, limit: 20 }),
  (sessionId) => bridge.call('sessions.search', { text: pick(['line', 'one', 'rehearsal']), sessionId }),
  (sessionId) => bridge.call('decisions.history', { sessionId }),
  async (sessionId) => {
    const { rev } = await bridge.call('sessions.config.get', { sessionId })
    return bridge.call('sessions.config.set', { sessionId, expectedRev: rev, mode: pick(['agent', 'yolo', 'plan']) })
  },
  async (sessionId) => {
    const { draft } = await bridge.call('drafts.get', { sessionId })
    const text = `Thought ${random(100)}`
    return bridge.call('drafts.set', { sessionId, expectedRev: draft?.rev ?? 0, text, queued: random(4) === 0 })
  },
  async (sessionId) => {
    const { lastRun } = await bridge.call('sessions.get', { sessionId })
    if (lastRun !== null) await bridge.call('runs.retry', { runId: lastRun.runId })
  },
  async (sessionId) => {
    const forked = await bridge.call('sessions.fork', { sessionId, requestId: `fork-${random(1_000_000)}` })
    await bridge.call('sessions.delete', { sessionId: forked.id })
  },
]

async function answer(): Promise<void> {
  const [decisionId] = open
  if (decisionId === undefined) return
  const option = random(4) === 0 ? 'reject_once' : 'allow_once'
  await bridge.call('decisions.resolve', { decisionId, answer: { option } })
}

/** A call that was refused is counted; one that fails for no good reason is a violation. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  report.calls++
  try {
    await work()
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'no_code'
    report.refusals[code] = (report.refusals[code] ?? 0) + 1
    if (!EXPECTED.has(code))
      report.violations.push(`${code}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const parent: { says: 'act' | 'settle' | 'report' } = { says: 'act' }
process.on('message', (message) => (parent.says = message as typeof parent.says))
process.on('disconnect', () => process.exit(1))
process.send?.('ready')

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

while (parent.says === 'act') {
  const sessionId = pick(sessionIds)
  const act = pick(ACTIONS)
  await attempt(() => act(sessionId))
  await pause(random(80))
}

// From here on every question is answered, so that what still runs can end.
while (parent.says !== 'report') {
  await attempt(answer)
  await pause(50)
}

for (const [sessionId, { events }] of followed) {
  const { headSeq } = await bridge.call('sessions.get', { sessionId })
  for (let tries = 0; tries < 600 && (events.at(-1)?.seq ?? 0) < headSeq; tries++) await pause(50)
  const gap = events.findIndex(({ seq }, index) => seq !== index + 1)
  if (gap >= 0) report.violations.push(`event ${gap + 1} of ${sessionId} came as ${events[gap]?.seq}`)
  report.seen[sessionId] = { events: events.length, digest: digestOf(events) }
}
process.send?.(report, () => process.exit(0))

function digestOf(events: readonly SessionEvent[]): string {
  const hash = createHash('sha256')
  for (const { seq, type, data } of events) hash.update(JSON.stringify([seq, type, data]))
  return hash.digest('hex')
}
