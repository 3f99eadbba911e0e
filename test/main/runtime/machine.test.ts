import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canMove } from '../../../src/main/runtime/execution/machine.ts'
import { transition } from '../../../src/main/runtime/execution/transition.ts'
import { createTables } from '../../../src/main/runtime/store/index.ts'
import type { EventDraft } from '../../../src/main/runtime/store/events.ts'
import { isTerminal, RunState } from '../../../src/shared/vocabulary.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createTestRuntime, quiet } from './support/runtime.ts'

const STATES = RunState.options

/** Section 3, the rows of the owner and of the decision service, written out once more. */
const ALLOWED = new Set([
  'created>queued',
  'created>running',
  'queued>running',
  'waiting_for_approval>running',
  'waiting_for_question>running',
  'running>waiting_for_approval',
  'waiting_for_question>waiting_for_approval',
  'running>waiting_for_question',
  'waiting_for_approval>waiting_for_question',
  ...['created', 'queued', 'running', 'waiting_for_approval', 'waiting_for_question'].map(
    (from) => `${from}>cancelling`,
  ),
  ...['created', 'queued', 'running', 'waiting_for_approval', 'waiting_for_question', 'cancelling'].map(
    (from) => `${from}>terminalizing`,
  ),
  ...['completed', 'incomplete', 'failed', 'cancelled', 'timed_out'].map((to) => `terminalizing>${to}`),
])

describe('RT-A19', () => {
  test('RT-A19 of all 144 pairs exactly those of the table succeed, and the others change nothing', async () => {
    await using t = await createTestRuntime()
    const { runId } = await t.submit()
    await quiet()
    t.executor.last().end()
    await quiet()
    const tables = createTables(t.store.db, createFakeIds(9))
    const row = (): unknown => t.rows(`SELECT state, finished_at FROM runs WHERE id = '${runId}'`)[0]
    let checked = 0
    for (const from of STATES) {
      for (const to of STATES) {
        const emitted: EventDraft[] = []
        await t.store.writeTx(() => {
          // Whatever the run was, the trigger lets it become this.
          t.store.db.exec('UPDATE runs SET reopen_count = reopen_count + 1, state = state')
          t.store.db
            .prepare('UPDATE runs SET state = ?, finished_at = ?, reopen_count = reopen_count + 1 WHERE id = ?')
            .run(from, isTerminal(from) ? 1 : null, runId)
        })
        const before = row()
        const outcome = await t.store
          .writeTx(() => transition(tables, (...drafts) => emitted.push(...drafts), { runId, to, reason: null, at: 2 }))
          .then(
            () => 'written',
            (error: unknown) => error,
          )
        const allowed = ALLOWED.has(`${from}>${to}`)
        const refused = expect.objectContaining({ code: 'run_transition_invalid' })
        expect(canMove(from, to)).toBe(allowed || from === to)
        expect(outcome).toEqual(allowed || from === to ? 'written' : refused)
        expect(row()).toEqual(allowed ? { state: to, finished_at: isTerminal(to) ? 2 : null } : before)
        expect(emitted.map(({ type, state }) => `${type} ${state}`)).toEqual(allowed ? [`run_state ${to}`] : [])
        checked++
      }
    }
    expect(checked).toBe(144)
  })

  test('RT-A19 no walk over allowed moves leaves a terminal state, or comes back to created', () => {
    const walk = fc.property(fc.array(fc.constantFrom(...STATES), { maxLength: 40 }), (wishes) => {
      let state: RunState = 'created'
      return wishes.every((to) => {
        const before: RunState = state
        if (canMove(state, to)) state = to
        return (!isTerminal(before) || state === before) && (before === 'created' || state !== 'created')
      })
    })
    expect(fc.check(walk).failed).toBe(false)
  })
})
