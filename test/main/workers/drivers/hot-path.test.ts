import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecret, createSecretRegistry } from '../../../../src/main/platform/index.ts'
import { SessionUpdate, plainUpdate } from '../../../../src/main/workers/drivers/acp/wire.ts'
import { Item, plainCommand } from '../../../../src/main/workers/drivers/codex/wire.ts'
import { keepNewest } from '../../../../src/main/workers/drivers/shared/keep-newest.ts'
import { titleLine } from '../../../../src/main/workers/drivers/shared/title-line.ts'
import { createRedactor } from '../../../../src/main/workers/text/redactor.ts'

/** Right more often than not, so that whole objects are right often enough. */
const mostly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: right },
    { weight: 1, arbitrary: fc.constantFrom(null, undefined, 0, '', [], {}, true) },
  )

describe('what is read by hand', () => {
  test('W-21 an ACP update is what the schema would have made of it', () => {
    const text = fc.record({ type: mostly(fc.constant('text')), text: mostly(fc.string()) })
    const update = fc.record(
      {
        sessionUpdate: fc.constantFrom('agent_message_chunk', 'user_message_chunk', 'tool_call', 'tool_call_update'),
        content: fc.oneof(mostly(text), fc.constant(null)),
        messageId: mostly(fc.oneof(fc.string(), fc.constant('m'.repeat(1_025)))),
        toolCallId: mostly(fc.oneof(fc.string({ minLength: 1 }), fc.constant('c'.repeat(16_385)))),
        title: mostly(fc.string()),
        name: mostly(fc.string()),
        kind: mostly(fc.constantFrom('execute', 'edit', 'unheard_of')),
        status: mostly(fc.constantFrom('pending', 'completed', 'unheard_of')),
        locations: fc.constantFrom(null, undefined, [{ path: '/a' }]),
        rawInput: fc.jsonValue(),
        rawOutput: fc.jsonValue(),
        _meta: fc.constantFrom(null, undefined, { claudeCode: { toolName: 'Bash' } }),
      },
      { requiredKeys: ['sessionUpdate'] },
    )
    fc.assert(
      fc.property(update, (given) => {
        const plain = plainUpdate(given.sessionUpdate, given)
        if (plain !== null) expect(plain).toEqual(SessionUpdate.parse(given))
      }),
      { numRuns: 1_000 },
    )
    const simplest = { sessionUpdate: 'tool_call', toolCallId: 'c', kind: 'execute', rawInput: { command: 'ls' } }
    expect(plainUpdate('tool_call', simplest)).toEqual(simplest)
  })

  test('W-21 a command of Codex that begins is what the schema would have made of it', () => {
    const item = fc.record(
      {
        type: mostly(fc.constantFrom('commandExecution', 'webSearch')),
        id: mostly(fc.oneof(fc.string(), fc.constant('i'.repeat(4_097)))),
        command: mostly(fc.string()),
        cwd: mostly(fc.string()),
        status: mostly(fc.constantFrom('inProgress', 'completed')),
        aggregatedOutput: fc.constantFrom(null, undefined, 'out'),
        exitCode: fc.constantFrom(null, undefined, 0),
      },
      { requiredKeys: ['type', 'id', 'command', 'cwd', 'status'] },
    )
    fc.assert(
      fc.property(item, (given) => {
        const plain = plainCommand(given)
        if (plain !== null)
          expect(plain).toEqual({ ...Item.parse(given), aggregatedOutput: undefined, exitCode: undefined })
      }),
      { numRuns: 1_000 },
    )
    const simplest = { type: 'commandExecution', id: 'c', command: 'ls', cwd: '/', status: 'inProgress' }
    expect(plainCommand(simplest)).toEqual(simplest)
  })
})

describe('keepNewest', () => {
  test('W-26 takes the oldest away, what was added again counting as new', () => {
    const kept = new Map<string, number>()
    const forgotten: string[] = []
    const forget = keepNewest(kept, 3, (key) => forgotten.push(key))
    for (const key of ['a', 'b', 'c', 'a', 'd', 'e']) {
      kept.delete(key)
      kept.set(key, 0)
      forget()
    }
    expect([...kept.keys()]).toEqual(['a', 'd', 'e'])
    expect(forgotten).toEqual(['b', 'c'])
  })
})

describe('titleLine, W-61', () => {
  const key = 'sk-live-0123456789abcdefghij'
  const redactor = createRedactor(createSecretRegistry(), { secrets: [createSecret(key)], env: {}, dirs: [] })

  test.each([
    ['ls -l', 'ls -l'],
    ['  ls -l \n', 'ls -l'],
    ['one\ntwo', 'one …'],
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), `${'x'.repeat(200)} …`],
    [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}\ufffd …`],
    ['', ''],
    [`echo ${key} > a`, 'echo [secret] > a'],
    [`echo ${key} > a\nsecond`, 'echo [secret] > a …'],
    // What the cut leaves of a secret is left out.
    [`${'x'.repeat(190)}${key} and more`, `${'x'.repeat(190)} …`],
    [`echo ${key}\nsecond`, 'echo [secret] …'],
    ['ls -ls\nsecond', 'ls -ls …'],
  ])('W-26 of %j is %j', (text, title) => {
    expect(titleLine(text, redactor)).toBe(title)
  })
})
