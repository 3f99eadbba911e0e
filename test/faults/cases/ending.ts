import { planDelivery } from '../../../src/main/runtime/deliveries/plan.ts'
import { begin, endsOf, finish, gapless, recovered, stateOf } from '../lane.ts'
import type { Lane } from '../lane.ts'
import { holds, same } from '../types.ts'
import type { FaultCase } from '../types.ts'

const pending = (lane: Lane, runId: string): Promise<unknown> =>
  lane.until(`SELECT 1 FROM decisions WHERE run_id = ? AND status = 'pending'`, runId)

const kinds = (lane: Lane, sessionId: string): string[] =>
  lane
    .rows<{ kind: string }>(
      `SELECT kind FROM entries WHERE session_id = ? AND kind IN ('assistant', 'turn_end') ORDER BY seq`,
      sessionId,
    )
    .map(({ kind }) => kind)

const one = (lane: Lane, sql: string, id: string): unknown => Object.values(lane.rows(sql, id)[0] ?? {})[0]

export const beforePrepared: FaultCase = {
  id: 'RT-A29',
  at: 'prepare.before_commit',
  holds: 'is a lost run',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ endWork: true, killAt: { name: 'prepare.before_commit', times: 1 } })
    const { runId } = await begin(lane, victim)
    await victim.call('end').catch(() => undefined)
    await victim.died
    await recovered(lane, 'failed')
    same('the state', stateOf(lane, runId), 'failed')
  },
}

export const afterPrepared: FaultCase = {
  id: 'RT-A30',
  at: 'prepare.after_commit',
  holds: 'is the end that was kept, with its answer, once',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ endWork: true, killAt: { name: 'prepare.after_commit', times: 1 } })
    const { sessionId, runId } = await begin(lane, victim)
    await victim.call('text', { text: 'done' })
    await victim.call('end').catch(() => undefined)
    await victim.died
    same('the state before', stateOf(lane, runId), 'terminalizing')
    await recovered(lane, 'finished')
    same('the state after', stateOf(lane, runId), 'completed')
    same('the ends', endsOf(lane, runId), ['run_recovered'])
    same('the entries', kinds(lane, sessionId), ['assistant', 'turn_end'])
  },
}

/** A crash inside the one transaction of the end. */
const inTheEnd = (id: string, at: string): FaultCase => ({
  id,
  at,
  holds: 'shows nothing of the end before recovery, and the kept end once after it',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ endWork: true, killAt: { name: at, times: 1 } })
    const { sessionId, runId } = await begin(lane, victim)
    await victim.call('text', { text: 'done' })
    await victim.call('ask')
    await pending(lane, runId)
    await victim.call('end').catch(() => undefined)
    await victim.died
    const decision = 'SELECT status FROM decisions WHERE run_id = ?'
    const turn = 'SELECT status FROM turns WHERE run_id = ?'
    same('the state before', stateOf(lane, runId), 'terminalizing')
    same('the entries before', kinds(lane, sessionId), [])
    same('the decision before', one(lane, decision, runId), 'pending')
    same('the turn before', one(lane, turn, runId), 'open')
    same('the ends before', endsOf(lane, runId), [])
    await recovered(lane, 'finished')
    same('the state after', stateOf(lane, runId), 'completed')
    same('the entries after', kinds(lane, sessionId), ['assistant', 'turn_end'])
    same('the decision after', one(lane, decision, runId), 'cancelled')
    same('the turn after', one(lane, turn, runId), 'completed')
    same('the ends after', endsOf(lane, runId), ['run_recovered'])
    gapless(lane, sessionId)
    const { state } = await lane.keeper.call<{ state: string }>('inspect', { sessionId })
    same('the session', state, 'idle')
  },
})

export const insideEnd: readonly FaultCase[] = [
  inTheEnd('RT-A32', 'terminal.after_run_row'),
  inTheEnd('RT-A33', 'terminal.after_entry'),
  inTheEnd('RT-A34', 'terminal.after_decisions'),
  inTheEnd('RT-A35', 'terminal.after_turn'),
  inTheEnd('RT-A37', 'terminal.after_event'),
  inTheEnd('RT-A38', 'terminal.before_commit'),
]

export const plannedDelivery: FaultCase = {
  id: 'RT-A36',
  at: 'terminal.after_delivery',
  holds: 'shows no delivery before recovery, and the planned ids once after it',
  rounds: 500,
  lane: 'webhook',
  async round(lane) {
    const victim = await lane.victim({ killAt: { name: 'terminal.after_delivery', times: 1 } })
    const { sessionId, runId } = await begin(lane, victim)
    await victim.call('text', { text: 'done' })
    await victim.call('end').catch(() => undefined)
    await victim.died
    const intents = 'SELECT id FROM delivery_intents WHERE run_id = ?'
    same('the state before', stateOf(lane, runId), 'terminalizing')
    same('the deliveries before', lane.rows(intents, runId), [])
    await recovered(lane, 'finished')
    const [planned] = planDelivery({
      sessionId,
      runId,
      text: 'done',
      artifacts: [],
      targets: [{ transport: 'webhook', targetId: 'main', context: {} }],
      capabilityOf: () => ({ text: true, image: true, file: true, video: true }),
    })
    const id = planned?.id ?? ''
    same('the deliveries after', lane.rows(intents, runId), [{ id }])
    same(
      'the pieces after',
      lane.rows('SELECT id FROM delivery_operations WHERE intent_id = ?', id),
      planned?.operations.map((operation) => ({ id: operation.id })),
    )
    await lane.until(`SELECT 1 FROM delivery_intents WHERE run_id = ? AND status = 'delivered'`, runId)
    const arrived = lane.receiver?.seen.filter(({ body }) => String(body).includes(id)).length
    same('how often it arrived', arrived, 1)
  },
}

export const endWithoutWork: FaultCase = {
  id: 'RT-A38',
  at: 'terminal.before_commit, nothing prepared',
  holds: 'is a lost run: the end was one commit',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ killAt: { name: 'terminal.before_commit', times: 1 } })
    const { runId } = await begin(lane, victim)
    await victim.call('end').catch(() => undefined)
    await victim.died
    same('the state before', stateOf(lane, runId), 'running')
    await recovered(lane, 'failed')
    same('the ends', endsOf(lane, runId), ['run_recovered'])
  },
}

const afterEnd = (id: string, at: string): FaultCase => ({
  id,
  at,
  holds: 'leaves a completed run and an idle session, here and elsewhere',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ killAt: { name: at, times: 1 } })
    const { sessionId, runId } = await begin(lane, victim)
    await victim.call('end').catch(() => undefined)
    await victim.died
    const events = 'SELECT seq, type FROM run_events WHERE session_id = ? ORDER BY seq'
    const before = lane.rows(events, sessionId)
    for (const process of [lane.keeper, await lane.peer('elsewhere')]) {
      const { state } = await process.call<{ state: string }>('inspect', { sessionId })
      same('the session', state, 'idle')
    }
    same('the run', stateOf(lane, runId), 'completed')
    same('the scan', await lane.keeper.call('scan'), { failed: 0, finished: 0, kept: 0, skipped: 0 })
    same('the events', lane.rows(events, sessionId), before)
    const next = await lane.keeper.call<{ runId: string; replayed: boolean }>('submit', { sessionId })
    same('whether the next prompt is a replay', next.replayed, false)
    await finish(lane.keeper, next.runId)
  },
})

export const afterTheEnd: readonly FaultCase[] = [
  afterEnd('RT-A39', 'terminal.after_commit'),
  afterEnd('RT-A40', 'release.after_commit'),
]

export const inRecovery: FaultCase = {
  id: 'RT-A40',
  at: 'converge.before_commit',
  holds: 'is recovered by a third process, with one end',
  rounds: 500,
  async round(lane) {
    const first = await lane.victim()
    const { runId } = await begin(lane, first)
    await first.kill()
    const second = await lane.victim({ killAt: { name: 'converge.before_commit', times: 1 } })
    await second.call('scan').catch(() => undefined)
    await second.died
    same('the state before', stateOf(lane, runId), 'running')
    await recovered(lane, 'failed')
    same('the ends', endsOf(lane, runId), ['run_recovered'])
  },
}

export const maintenance: FaultCase = {
  id: 'RT-A80',
  at: 'prepare.after_commit of a maintenance run',
  holds: 'is completed, without a turn or an entry',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ endWork: true, killAt: { name: 'prepare.after_commit', times: 1 } })
    const { sessionId, runId } = await begin(lane, victim, { maintenance: 'true' })
    await victim.call('end').catch(() => undefined)
    await victim.died
    await recovered(lane, 'finished')
    same('the state', stateOf(lane, runId), 'completed')
    for (const table of ['turns', 'entries']) {
      same(table, lane.rows(`SELECT id FROM ${table} WHERE session_id = ?`, sessionId), [])
    }
    const leases = lane.rows('SELECT state FROM leases WHERE session_id = ?', sessionId)
    same('the lease', leases, [{ state: 'released' }])
  },
}

export const answered: FaultCase = {
  id: 'RT-A51',
  at: 'decision.after_commit',
  holds: 'leaves the answer saved and never handed over',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ killAt: { name: 'decision.after_commit', times: 1 } })
    const { runId } = await begin(lane, victim)
    await victim.call('ask')
    await pending(lane, runId)
    const decisionId = String(one(lane, 'SELECT id FROM decisions WHERE run_id = ?', runId))
    await victim.call('resolve', { decisionId }).catch(() => undefined)
    await victim.died
    const before = await lane.keeper.call<unknown[]>('answers')
    await recovered(lane, 'failed')
    const rows = lane.rows('SELECT status, applied_at FROM decisions WHERE run_id = ?', runId)
    same('the decision', rows, [{ status: 'resolved', applied_at: null }])
    const { kind } = await lane.keeper.call<{ kind: string }>('resolve', { decisionId })
    same('the next answer', kind, 'already_resolved')
    const after = await lane.keeper.call<unknown[]>('answers')
    holds('no agent was told', after.length === before.length)
  },
}
