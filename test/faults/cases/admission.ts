import { begin, endsOf, finish, gapless, recovered, stateOf } from '../lane.ts'
import { holds, refusal, same } from '../types.ts'
import type { FaultCase } from '../types.ts'

const TABLES = ['intents', 'runs', 'turns', 'entries', 'run_events', 'submissions', 'leases']

interface Admitted {
  runId: string
  replayed: boolean
  state: string
}

export const beforeAdmission: FaultCase = {
  id: 'RT-A26',
  at: 'admit.before_commit',
  holds: 'leaves no trace, and the key admits afresh',
  rounds: 500,
  async round(lane) {
    const sessionId = await lane.keeper.call<string>('create')
    const victim = await lane.victim({ killAt: { name: 'admit.before_commit', times: 1 } })
    same('the submission', await refusal(victim.call('submit', { sessionId, key: 'k' })), 'died')
    for (const table of TABLES) same(table, lane.rows(`SELECT * FROM ${table} WHERE session_id = ?`, sessionId), [])
    const { runId, replayed } = await lane.keeper.call<Admitted>('submit', { sessionId, key: 'k' })
    same('whether it is a replay', replayed, false)
    await finish(lane.keeper, runId)
  },
}

export const afterAdmission: FaultCase = {
  id: 'RT-A27',
  at: 'admit.after_commit',
  holds: 'is a lost run without effects, and the key answers it',
  rounds: 500,
  async round(lane) {
    const sessionId = await lane.keeper.call<string>('create')
    const victim = await lane.victim({ killAt: { name: 'admit.after_commit', times: 1 } })
    same('the submission', await refusal(victim.call('submit', { sessionId, key: 'k' })), 'died')
    await recovered(lane, 'failed')
    const runs = lane.rows(
      `SELECT state, side_effects, json_extract(error, '$.code') AS code, json_extract(error, '$.retryMode') AS mode
       FROM runs WHERE session_id = ?`,
      sessionId,
    )
    same('the run', runs, [{ state: 'failed', side_effects: 'none', code: 'owner_lost', mode: 'user' }])
    same('the turn', lane.rows('SELECT status FROM turns WHERE session_id = ?', sessionId), [{ status: 'failed' }])
    const again = await lane.keeper.call<Admitted>('submit', { sessionId, key: 'k' })
    same('the key', { replayed: again.replayed, state: again.state }, { replayed: true, state: 'failed' })
  },
}

export const inTheStream: FaultCase = {
  id: 'RT-A28',
  at: 'events.before_commit',
  holds: 'keeps what was committed before, without a gap, and loses what was not',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ killAt: { name: 'events.before_commit', times: 2 } })
    const { sessionId, runId } = await begin(lane, victim)
    await victim.call('text', { text: 'kept' })
    await lane.until(`SELECT 1 FROM run_events WHERE run_id = ? AND type = 'output_text'`, runId)
    await victim.call('text', { text: 'lost' }).catch(() => undefined)
    await victim.died
    await recovered(lane, 'failed')
    const said = lane.rows<{ text: string }>(
      `SELECT json_extract(data, '$.text') AS text FROM run_events WHERE run_id = ? AND type = 'output_text'`,
      runId,
    )
    same('the text', said, [{ text: 'kept' }])
    gapless(lane, sessionId)
    const [run] = lane.rows(
      `SELECT partial_output, json_extract(error, '$.code') AS code, json_extract(error, '$.retryMode') AS mode
       FROM runs WHERE id = ?`,
      runId,
    )
    same('the run', run, { partial_output: 1, code: 'owner_lost', mode: 'decision_required' })
  },
}

/** Any moment of a run, not one of the named ones. */
export const atAnyMoment: FaultCase = {
  id: 'RT-A10',
  at: 'any moment of a run',
  holds: 'is orphaned at once on this machine, and comes to one end',
  rounds: 500,
  async round(lane) {
    const victim = await lane.victim({ endWork: Math.random() < 0.5 })
    const { sessionId, runId } = await begin(lane, victim)
    const working = (async () => {
      for (let n = 0; n < 40; n++) await victim.call('text', { text: `word ${n} ` })
      await victim.call('ask')
      await victim.call('end')
    })().catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
    await victim.kill()
    await working
    const { state } = await lane.keeper.call<{ state: string }>('inspect', { sessionId })
    holds(`${state} is orphaned or idle`, state === 'orphaned' || state === 'idle')
    await lane.keeper.call('scan')
    holds('the run has ended', ['completed', 'failed'].includes(String(stateOf(lane, runId))))
    same('its ends', endsOf(lane, runId).length, 1)
    gapless(lane, sessionId)
  },
}
