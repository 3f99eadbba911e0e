import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openTranscript } from '../../../src/renderer/stores/transcript.ts'
import type { SessionEvent } from '../../../src/shared/events.ts'
import { numbered, SESSION_ID } from '../support/decisions.ts'
import { createFakeBridge } from '../support/fake-bridge.tsx'
import { aRun, aSession, aSnapshot, RUN_ID, running } from '../support/sessions.ts'

const RENDERS_A_SECOND = 30
const TURNS = 120

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const said = (seq: number, text: string): SessionEvent => ({
  sessionId: SESSION_ID,
  seq,
  runId: RUN_ID,
  type: 'output_text',
  state: null,
  at: 3_000,
  data: { messageId: 'm', text },
})

describe('a transcript that is followed', () => {
  test('DT-A12 has all of the text, however it was cut, and is published at most thirty times a second', async () => {
    const pieces = fc.array(fc.record({ text: fc.string({ minLength: 1 }), waitMs: fc.nat(20) }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(pieces, async (sent) => {
        const host = createFakeBridge({
          'sessions.snapshot': () => aSnapshot(running(), [aRun({ state: 'running', finishedAt: null })]),
        })
        const transcript = openTranscript(host.bridge, SESSION_ID)
        await vi.advanceTimersByTimeAsync(0)
        let published = 0
        transcript.store.subscribe(() => (published += 1))
        const fromMs = Date.now()
        for (const [index, { text, waitMs }] of sent.entries()) {
          host.publish('session.events', said(index + 2, text))
          await vi.advanceTimersByTimeAsync(waitMs)
        }
        await vi.advanceTimersByTimeAsync(100)
        const [item] = transcript.store.getState().runs[0]?.items ?? []
        expect(item?.kind === 'text' ? item.text : null).toBe(sent.map(({ text }) => text).join(''))
        expect(published).toBeLessThanOrEqual(((Date.now() - fromMs) / 1_000) * RENDERS_A_SECOND + 1)
        transcript.close()
      }),
      { numRuns: 50 },
    )
  })

  test('DT-A11 is loaded page after page up to its first turn', async () => {
    const turns = Array.from({ length: TURNS }, (_, index) => aRun({ runId: numbered(8_000 + index) }))
    const host = createFakeBridge({
      'sessions.snapshot': ({ beforeTurn, limit }) => {
        const end = beforeTurn === undefined ? TURNS : turns.findIndex((turn) => turn.runId === beforeTurn)
        const from = Math.max(0, end - limit)
        return { ...aSnapshot(aSession(), turns.slice(from, end)), hasEarlier: from > 0 }
      },
    })
    const transcript = openTranscript(host.bridge, SESSION_ID)
    await vi.advanceTimersByTimeAsync(0)
    expect(transcript.store.getState().runs.length).toBeLessThan(TURNS)
    await transcript.loadAll()
    expect(transcript.store.getState().runs.map((run) => run.runId)).toEqual(turns.map((turn) => turn.runId))
    expect(transcript.store.getState().hasEarlier).toBe(false)
    transcript.close()
  })
})
