import { existsSync, readdirSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { begin, endsOf, recovered, stateOf } from '../lane.ts'
import { holds, refusal, same } from '../types.ts'
import type { FaultCase } from '../types.ts'

const OLD_MS = 8 * 24 * 3_600_000 + 60_000

const listing = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

export const tornCopy: FaultCase = {
  id: 'RT-A31',
  at: 'artifact.mid_copy',
  holds: 'completes the run without the torn file, which goes after 8 days',
  rounds: 500,
  async round(lane) {
    const folder = join(lane.dir, 'data', 'artifacts')
    const before = new Set(listing(folder))
    const victim = await lane.victim({ killAt: { name: 'artifact.mid_copy', times: 2 } })
    const { runId } = await begin(lane, victim)
    await victim.call('offerSlowly')
    await victim.call('end').catch(() => undefined)
    await victim.died
    await recovered(lane, 'finished')
    same('the state', stateOf(lane, runId), 'completed')
    same('the files', lane.rows('SELECT id FROM attachments WHERE run_id = ?', runId), [])
    const torn = listing(folder).filter((name) => !before.has(name))
    same('the torn copies', torn.length, 1)
    await lane.keeper.call('cleanUp')
    same('the torn copies while they are young', listing(folder).length, before.size + 1)
    const old = new Date(Date.now() - OLD_MS)
    utimesSync(join(folder, torn[0] ?? ''), old, old)
    await lane.keeper.call('cleanUp')
    same('the torn copies when they are old', listing(folder).length, before.size)
  },
}

export const deletedInput: FaultCase = {
  id: 'RT-A84',
  at: 'input.after_delete_commit',
  holds: 'leaves the row deleted, and its files go at the next cleanup',
  rounds: 500,
  async round(lane) {
    const sessionId = await lane.keeper.call<string>('create')
    const victim = await lane.victim({ killAt: { name: 'input.after_delete_commit', times: 1 } })
    const { id, path } = await victim.call<{ id: string; path: string }>('prepare', { sessionId })
    same('the deletion', await refusal(victim.call('deleteInput', { sessionId, inputId: id })), 'died')
    const rows = lane.rows('SELECT status FROM input_resources WHERE id = ?', id)
    same('the row', rows, [{ status: 'deleted' }])
    holds('the file is still there', existsSync(path))
    await lane.keeper.call('cleanUp')
    holds('its folder is gone', !existsSync(dirname(path)))
  },
}

const STATES = `SELECT o.status FROM delivery_operations o JOIN delivery_intents i ON i.id = o.intent_id
  WHERE i.run_id = ? ORDER BY o.sequence`

export const whileSending: FaultCase = {
  id: 'RT-A68',
  at: 'while a receiver has the text and has not answered',
  holds: 'sends once more under the same key, and all that follows arrives',
  rounds: 100,
  lane: 'webhook',
  async round(lane) {
    const { receiver } = lane
    if (receiver === null) throw new Error('this lane has no receiver')
    const later = await lane.peer('later')
    const victim = await lane.victim()
    const { runId } = await begin(lane, victim)
    await victim.call('publish', { runId, text: 'bytes' })
    await victim.call('text', { text: 'done' })
    const usual = receiver.answer
    const arrived = new Promise<void>((resolve) => {
      receiver.answer = () => resolve()
    })
    const before = receiver.seen.length
    await victim.call('end')
    await arrived
    await victim.kill()
    receiver.answer = usual
    same('the pieces before', lane.rows(STATES, runId), [
      { status: 'sending' },
      { status: 'pending' },
      { status: 'pending' },
    ])
    await later.call('deliver')
    await lane.until(`SELECT 1 FROM delivery_intents WHERE run_id = ? AND status = 'delivered'`, runId)
    same('the pieces after', lane.rows(STATES, runId), [
      { status: 'delivered' },
      { status: 'uploaded' },
      { status: 'delivered' },
    ])
    const seen = receiver.seen.slice(before).map(({ headers, body }) => [headers['idempotency-key'], String(body)])
    same('how many requests there were', seen.length, 3)
    same('the second try', seen[1], seen[0])
    same('the ends', endsOf(lane, runId), ['run_finished'])
  },
}
