import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventData, EventType, SessionEvent } from '../../src/shared/events.ts'
import { emptyRun, extendRun, projectRun, RunViewSchema } from '../../src/shared/projection/index.ts'
import type { RunState } from '../../src/shared/vocabulary.ts'

const runId = 'r1'
let seq = 0
function event<T extends EventType>(type: T, data: EventData<T>, state: RunState | null = null): SessionEvent {
  seq++
  return { sessionId: 's1', seq, runId, type, state, at: seq * 10, data }
}

const tool = (toolCallId: string, status: 'pending' | 'completed') => ({
  toolCallId,
  tool: 'edit' as const,
  name: 'edit',
  title: 'Edit a.txt',
  status,
  paths: ['/p/a.txt'],
  content: [],
})

function aRun(): SessionEvent[] {
  seq = 0
  return [
    event(
      'run_created',
      {
        intentId: 'i1',
        attempt: 1,
        retryOf: null,
        source: 'browser',
        entrySource: 'browser',
        mode: 'agent',
        provider: null,
        model: null,
        turnId: 't1',
        prompt: 'make it so',
      },
      'created',
    ),
    event('notice', { code: 'start_waits', message: 'Waiting for the agent to answer.' }),
    event('run_state', { reason: null }, 'running'),
    event('output_text', { messageId: 'm1', text: 'I will ' }),
    event('output_text', { messageId: 'm1', text: 'edit.' }),
    event('tool_started', tool('c1', 'pending')),
    event('decision_requested', {
      decisionId: 'd1',
      kind: 'approval',
      toolCallId: 'c1',
      tool: 'edit',
      toolKind: 'edit',
      title: 'Edit a.txt',
      action: { kind: 'other', text: 'x' },
      complete: true,
      risk: 'low',
      riskReason: '',
      options: ['allow_once', 'reject_once'],
      paths: [],
      expiresAt: null,
    }),
    event('decision_resolved', {
      decisionId: 'd1',
      status: 'resolved',
      answer: { option: 'allow_once' },
      by: { via: 'browser', connection: 'g' },
    }),
    event('decision_told', { decisionId: 'd1', how: 'sent' }),
    event('tool_finished', tool('c1', 'completed')),
    event('output_text', { messageId: 'm1', text: 'Done.' }),
    event(
      'run_finished',
      {
        state: 'completed',
        entryId: 'e1',
        stopReason: 'end_turn',
        error: null,
        sideEffects: 'mutating',
        partialOutput: true,
      },
      'completed',
    ),
  ]
}

test('a run reads in the order in which it happened', () => {
  const view = projectRun(runId, aRun())
  expect(view.items.map((item) => item.kind)).toEqual(['text', 'tool', 'decision', 'text'])
  expect(view).toMatchObject({
    state: 'completed',
    prompt: 'make it so',
    startWaitsFor: null,
    startedAt: 30,
    finishedAt: 120,
    sideEffects: 'mutating',
  })
  expect(view.items[2]).toMatchObject({ decision: { status: 'resolved', told: 'sent', by: { via: 'browser' } } })
  expect(RunViewSchema.parse(view)).toEqual(view)
})

test('RT-A89 equal events give equal bytes, whatever the batches and with an unknown type inside', () => {
  const events = aRun()
  events.splice(4, 0, {
    sessionId: 's1',
    seq: 4.5,
    runId,
    type: 'of_a_newer_build',
    state: null,
    at: 1,
    data: { x: 1 },
  })
  const whole = JSON.stringify(projectRun(runId, events))
  fc.assert(
    fc.property(fc.array(fc.nat({ max: events.length }), { maxLength: 6 }), (cuts) => {
      let view = emptyRun(runId)
      let from = 0
      for (const to of [...cuts.sort((a, b) => a - b), events.length]) {
        view = extendRun(view, events.slice(from, to))
        // Applying again what is applied changes nothing.
        view = extendRun(view, events.slice(0, to))
        from = to
      }
      expect(JSON.stringify(view)).toBe(whole)
    }),
  )
})

test('what did not change keeps its identity', () => {
  const events = aRun()
  const before = projectRun(runId, events.slice(0, 10))
  const after = extendRun(before, events.slice(10))
  expect(after.items[1]).toBe(before.items[1])
  expect(extendRun(after, events)).toBe(after)
})

test('a tool that was open at the end is closed with it', () => {
  const events = aRun()
  const cut = [...events.slice(0, 6), { ...events[11]!, seq: 7 }]
  expect(projectRun(runId, cut).items[1]).toMatchObject({ kind: 'tool', status: 'failed', finishedAt: 120 })
})
