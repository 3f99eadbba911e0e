import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSecret, createSecretRegistry } from '../../../../src/main/platform/index.ts'
import { createToolCalls } from '../../../../src/main/workers/drivers/acp/tools.ts'
import { SessionUpdate, plainUpdate } from '../../../../src/main/workers/drivers/acp/wire.ts'
import { Item, plainCommand } from '../../../../src/main/workers/drivers/codex/wire.ts'
import { readInput } from '../../../../src/main/workers/drivers/claude/tools.ts'
import { readAssistant, readBlock, readStreamEvent } from '../../../../src/main/workers/drivers/claude/wire.ts'
import { keepNewest } from '../../../../src/main/workers/drivers/shared/keep-newest.ts'
import { createNewest } from '../../../../src/main/workers/drivers/shared/newest.ts'
import { titleLine, titleSource } from '../../../../src/main/workers/drivers/shared/title-line.ts'
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

describe('what is read of Claude Code by hand is what a schema would make of it', () => {
  const wrong = fc.constantFrom<unknown>(null, undefined, 0, '', [], {}, true)
  const own = z.unknown().transform((parent) => parent === null || parent === undefined)

  test('W-21 a block of a message', () => {
    const id = z.string().max(4_096)
    const Block = z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('thinking'), thinking: z.string() }),
      z.object({ type: z.literal('tool_use'), id, name: z.string(), input: z.unknown().optional() }),
      z
        .object({
          type: z.literal('tool_result'),
          tool_use_id: id,
          content: z.unknown().optional(),
          is_error: z.unknown().optional(),
        })
        .transform(({ type, tool_use_id: toolCallId, content, is_error: failed }) => ({
          type,
          toolCallId,
          content,
          failed: failed === true,
        })),
    ])
    const ids = mostly(fc.oneof(fc.string(), fc.constantFrom('i'.repeat(4_096), 'i'.repeat(4_097))))
    const block = fc.record(
      {
        type: mostly(fc.constantFrom('text', 'thinking', 'tool_use', 'tool_result', 'image')),
        text: mostly(fc.string()),
        thinking: mostly(fc.string()),
        id: ids,
        name: mostly(fc.string()),
        input: fc.jsonValue(),
        tool_use_id: ids,
        content: fc.jsonValue(),
        is_error: mostly(fc.boolean()),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: block }, wrong), (given) => {
        expect(readBlock(given)).toEqual(Block.safeParse(given).data ?? null)
      }),
      { numRuns: 1_000 },
    )
  })

  test('W-21 a message', () => {
    const Assistant = z
      .object({
        message: z.object({ id: z.string(), content: z.array(z.unknown()) }),
        parent_tool_use_id: own,
        error: z.string().nullable().catch(null),
      })
      .transform(({ message, parent_tool_use_id: isOwn, error }) => ({
        id: message.id,
        blocks: message.content,
        own: isOwn,
        error,
      }))
    const message = fc.record(
      { id: mostly(fc.string()), content: mostly(fc.array(fc.jsonValue(), { maxLength: 3 })) },
      { requiredKeys: [] },
    )
    const line = fc.record(
      { message: mostly(message), parent_tool_use_id: mostly(fc.constant(null)), error: mostly(fc.string()) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(line, (given) => {
        // A field that is not there is one without a value.
        const whole = { parent_tool_use_id: undefined, error: undefined, ...given }
        expect(readAssistant(given)).toEqual(Assistant.safeParse(whole).data ?? null)
      }),
      { numRuns: 1_000 },
    )
  })

  test('W-21 a piece of a message', () => {
    const Delta = z.object({ type: z.unknown(), text: z.unknown(), thinking: z.unknown() }).partial()
    const Event = z.object({
      type: z.string(),
      message: z
        .object({ id: z.string().nullable().catch(null), usage: z.unknown().optional() })
        .nullable()
        .catch(null),
      delta: Delta.catch({}),
      index: z.number().catch(0),
      usage: z.unknown().optional(),
    })
    const Line = z.object({ event: Event, parent_tool_use_id: own.pipe(z.literal(true)) }).transform(({ event }) => {
      const { type, message, delta, index, usage } = event
      const said = (kind: string, text: unknown): string | null =>
        delta.type === kind && typeof text === 'string' ? text : null
      return {
        type,
        messageId: message?.id ?? null,
        index,
        text: said('text_delta', delta.text),
        thinking: said('thinking_delta', delta.thinking),
        usage: usage ?? message?.usage,
      }
    })
    const delta = fc.record(
      {
        type: mostly(fc.constantFrom('text_delta', 'thinking_delta', 'signature_delta')),
        text: mostly(fc.string()),
        thinking: mostly(fc.string()),
      },
      { requiredKeys: [] },
    )
    const event = fc.record(
      {
        type: mostly(fc.constantFrom('content_block_delta', 'message_start', 'message_delta')),
        message: mostly(fc.record({ id: mostly(fc.string()), usage: fc.jsonValue() }, { requiredKeys: [] })),
        delta: mostly(delta),
        index: mostly(fc.nat(9)),
        usage: mostly(fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    const line = fc.record(
      { event: mostly(event), parent_tool_use_id: mostly(fc.constant(null)) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(line, (given) => {
        const whole = { parent_tool_use_id: undefined, ...given }
        expect(readStreamEvent(given)).toEqual(Line.safeParse(whole).data ?? null)
      }),
      { numRuns: 1_000 },
    )
  })

  test('W-21 the input of a tool', () => {
    const fields = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'old_string', 'new_string'] as const
    const more = ['content', 'url', 'query', 'description', 'subject'] as const
    const all = [...fields, ...more]
    const Input = z.object(Object.fromEntries(all.map((field) => [field, z.string().optional()])))
    const mostlyText = fc.oneof({ weight: 40, arbitrary: fc.string() }, { weight: 1, arbitrary: wrong })
    const input = fc.record(Object.fromEntries([...all, 'other'].map((field) => [field, mostlyText])), {
      requiredKeys: [],
    })
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: input }, wrong), (given) => {
        expect(readInput(given)).toEqual(Input.safeParse(given).data ?? {})
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('createNewest', () => {
  test('W-26 keeps at most so many, and the newer half of them', () => {
    const kept = createNewest<number>({ count: 4 })
    for (let n = 0; n < 5; n++) kept.set(`${n}`, n)
    expect([...kept.values()]).toEqual([2, 3, 4])
    kept.set('2', 20)
    kept.delete('4')
    expect([...kept.values()]).toEqual([3, 20])
    expect(kept.get('2')).toBe(20)
    expect(kept.get('0')).toBeUndefined()
  })

  test('property: never holds more than it may, by number and by size, and always what came last', () => {
    const set = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), size: fc.nat(5), gone: fc.boolean() })
    fc.assert(
      fc.property(fc.array(set, { maxLength: 40 }), (sets) => {
        const kept = createNewest<{ id: string; size: number }>({ count: 4, total: 10 })
        for (const { id, size, gone } of sets) {
          if (gone) kept.delete(id)
          else kept.set(id, { id, size }, size)
          expect(kept.get(id)?.size).toBe(gone ? undefined : size)
          const held = [...kept.values()]
          expect(new Set(held.map((each) => each.id)).size).toBe(held.length)
          expect(held.length).toBeLessThanOrEqual(4)
          expect(held.reduce((sum, each) => sum + each.size, 0)).toBeLessThanOrEqual(10)
        }
      }),
      { numRuns: 300 },
    )
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
    expect(titleLine(titleSource(text), redactor)).toBe(title)
  })

  test('W-26 what is kept of a text makes the same title, and is no longer than one', () => {
    const parts = fc.constantFrom('a', ' ', '\n', '😀', '\ud83d', key, key.slice(0, 8), 'x'.repeat(60), 'y'.repeat(199))
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (chosen) => {
        const text = chosen.join('')
        const source = titleSource(text)
        expect(titleLine(source, redactor)).toBe(titleLine(text, redactor))
        expect(source.length).toBeLessThanOrEqual(202)
      }),
    )
  })
})

describe('what is remembered of the calls of an ACP agent', () => {
  const said = 'x'.repeat(400)

  test.each([
    ['content', { content: [{ type: 'content', content: { type: 'text', text: said } }] }],
    ['input', { rawInput: { command: [null, { deep: said }] } }],
    ['output', { rawOutput: said }],
    ['title', { title: said }],
    ['meta', { _meta: { [said]: undefined } }],
  ])('W-26 is bounded by how much it is: %s', (_, parts) => {
    const tools = createToolCalls({ toolCalls: 1_024, toolCallChars: 2_000 })
    for (const toolCallId of ['a', 'b', 'c', 'd', 'e']) tools.merge({ toolCallId, ...parts })
    expect(tools.merge({ toolCallId: 'e' }).first).toBe(false)
    expect(tools.merge({ toolCallId: 'a' }).first).toBe(true)
  })

  test('W-26 a title is whole where a person judges the call', () => {
    const tools = createToolCalls({ toolCalls: 1_024, toolCallChars: 2_000 })
    const { tool } = tools.merge({ toolCallId: 'a', title: said })
    expect(tool.title).toBe(said)
  })
})
