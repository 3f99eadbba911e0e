import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { begin, finish, stateOf } from '../lane.ts'
import { holds, same } from '../types.ts'
import type { FaultCase } from '../types.ts'

interface Admitted {
  runId: string
  replayed: boolean
}

export const twoKeys: FaultCase = {
  id: 'RT-A07',
  at: 'two processes submit with different keys',
  holds: 'exactly one gets through',
  rounds: 200,
  async round(lane) {
    const peer = await lane.peer()
    const sessionId = await lane.keeper.call<string>('create')
    const results = await Promise.allSettled([
      lane.keeper.call<Admitted>('submit', { sessionId, key: 'a' }),
      peer.call<Admitted>('submit', { sessionId, key: 'b' }),
    ])
    const won = results.findIndex(({ status }) => status === 'fulfilled')
    const lost = results.find((result) => result.status === 'rejected')
    same('how many got through', results.filter(({ status }) => status === 'fulfilled').length, 1)
    const why = lost?.reason instanceof Error ? lost.reason.message : ''
    holds(`the other one is refused as busy, not as ${why}`, /^session_(busy|run_active)$/.test(why))
    const runs = lane.rows<{ id: string }>('SELECT id FROM runs WHERE session_id = ?', sessionId)
    same('the runs', runs.length, 1)
    await finish(won === 0 ? lane.keeper : peer, runs[0]?.id ?? '')
  },
}

export const oneKey: FaultCase = {
  id: 'RT-A08',
  at: 'two processes submit with one key, and wait',
  holds: 'they get one run, one of them as a replay',
  rounds: 200,
  async round(lane) {
    const peer = await lane.peer()
    const sessionId = await lane.keeper.call<string>('create')
    const request = { sessionId, key: 'k', wait: 'true' }
    const [a, b] = await Promise.all([
      lane.keeper.call<Admitted>('submit', request),
      peer.call<Admitted>('submit', request),
    ])
    same('the runs', a.runId, b.runId)
    same('how many replays there are', [a, b].filter(({ replayed }) => replayed).length, 1)
    await finish(a.replayed ? peer : lane.keeper, a.runId)
  },
}

export const twoAnswers: FaultCase = {
  id: 'RT-A49',
  at: 'two processes answer one question',
  holds: 'one wins, the other learns which, and the agent gets one answer',
  rounds: 200,
  async round(lane) {
    const peer = await lane.peer()
    // Whoever holds a lease is watched by the others.
    const watched = await begin(lane, peer)
    const { runId } = await begin(lane, lane.keeper)
    const before = (await lane.keeper.call<unknown[]>('answers')).length
    await lane.keeper.call('ask')
    const { id: decisionId } = await lane.until<{ id: string }>(
      `SELECT id FROM decisions WHERE run_id = ? AND status = 'pending'`,
      runId,
    )
    const outcomes = await Promise.all([
      lane.keeper.call<{ kind: string; answer?: unknown }>('resolve', { decisionId, option: 'allow_once' }),
      peer.call<{ kind: string; answer?: unknown }>('resolve', { decisionId, option: 'reject_once' }),
    ])
    same('the outcomes', outcomes.map(({ kind }) => kind).sort(), ['already_resolved', 'resolved'])
    const allow = outcomes[0].kind === 'resolved'
    const loser = outcomes.find(({ kind }) => kind === 'already_resolved')
    same('what the loser learns', loser?.answer, { option: allow ? 'allow_once' : 'reject_once' })
    await lane.until(`SELECT 1 FROM runs WHERE id = ? AND state = 'running'`, runId)
    let answers: { decision: { allow: boolean } }[] = []
    for (let tries = 0; tries < 2_000 && answers.length === 0; tries++) {
      answers = (await lane.keeper.call<typeof answers>('answers')).slice(before)
      if (answers.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    same(
      'what the agent was told',
      answers.map(({ decision }) => decision.allow),
      [allow],
    )
    await finish(lane.keeper, runId)
    await finish(peer, watched.runId)
  },
}

const PAIRS = 10

export const groups: FaultCase = {
  id: 'RT-A15',
  at: `two processes want {a,b} and {b,a}, ${PAIRS} times a round`,
  holds: 'they never have them both, and never wait for each other',
  rounds: 50,
  async round(lane) {
    const peer = await lane.peer()
    const [a, b] = [await lane.keeper.call<string>('create'), await lane.keeper.call<string>('create')]
    interface Counts {
      held: number
      refused: number
      together: number
    }
    const [one, two] = await Promise.all([
      lane.keeper.call<Counts>('hold', { ids: `${a},${b}`, rounds: String(PAIRS) }),
      peer.call<Counts>('hold', { ids: `${b},${a}`, rounds: String(PAIRS) }),
    ])
    same('how often both were inside', one.together + two.together, 0)
    same('how often each had its turn', [one.held + one.refused, two.held + two.refused], [PAIRS, PAIRS])
    holds('somebody got in', one.held + two.held > 0)
    const leases = lane.rows('SELECT state FROM leases WHERE session_id IN (?, ?)', a, b)
    same('the leases', leases, [{ state: 'released' }, { state: 'released' }])
  },
}

export const oneItem: FaultCase = {
  id: 'RT-A66',
  at: 'two processes prepare one event',
  holds: 'it is one row and one folder',
  rounds: 100,
  async round(lane) {
    const peer = await lane.peer()
    const sessionId = await lane.keeper.call<string>('create')
    const request = { sessionId, eventId: 'event' }
    const [one, two] = await Promise.all([
      lane.keeper.call<{ id: string }>('prepare', request),
      peer.call<{ id: string }>('prepare', request),
    ])
    same('the inputs', one.id, two.id)
    const rows = lane.rows<{ id: string }>('SELECT id FROM input_resources WHERE session_id = ?', sessionId)
    same('the rows', rows, [{ id: one.id }])
    const known = lane
      .rows<{ id: string }>(`SELECT id FROM input_resources WHERE status <> 'deleted'`)
      .map(({ id }) => id)
    same('the folders', readdirSync(join(lane.dir, '.wheelhouse', 'inputs')).sort(), known.sort())
  },
}

/** Longer than a lease: 15 s. */
const STOPPED_MS = 16_500

export const stoppedOwner: FaultCase = {
  id: 'RT-A09',
  at: 'an owner stands still for longer than its lease',
  holds: 'another one takes over, and the first writes nothing more and loses its agent',
  rounds: 3,
  async round(lane) {
    const owner = await lane.victim()
    const { sessionId, runId } = await begin(lane, owner)
    process.kill(owner.pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, STOPPED_MS))
    const next = await lane.keeper.call<Admitted>('submit', { sessionId, wait: 'true' })
    same('the first run', stateOf(lane, runId), 'failed')
    const [lease] = lane.rows('SELECT epoch FROM leases WHERE session_id = ?', sessionId)
    same('the epoch', lease, { epoch: 3 })
    const before = lane.rows('SELECT seq, type FROM run_events WHERE run_id = ? ORDER BY seq', runId)
    process.kill(owner.pid, 'SIGCONT')
    await owner.call('text', { text: 'too late' })
    for (let tries = 0; (await owner.call<number>('kills')) === 0; tries++) {
      holds('its agent is taken away', tries < 600)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    same(
      'the log of the first run',
      lane.rows('SELECT seq, type FROM run_events WHERE run_id = ? ORDER BY seq', runId),
      before,
    )
    await finish(lane.keeper, next.runId)
    await owner.kill()
  },
}

export const elsewhere: FaultCase = {
  id: 'RT-A11',
  at: 'an owner on another machine is killed',
  holds: 'its run is external until its lease has run out, then orphaned, then ended',
  rounds: 3,
  async round(lane) {
    const owner = await lane.victim({ ownerHost: 'another' })
    const { sessionId, runId } = await begin(lane, owner)
    await owner.kill()
    const look = async (): Promise<string> =>
      (await lane.keeper.call<{ state: string }>('inspect', { sessionId })).state
    same('the session at first', await look(), 'external')
    await new Promise((resolve) => setTimeout(resolve, STOPPED_MS))
    same('the session later', await look(), 'orphaned')
    await lane.keeper.call('wait', { runId })
    same('the run', stateOf(lane, runId), 'failed')
  },
}
