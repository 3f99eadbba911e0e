import { describe, expect, test } from 'vitest'
import { exportPage } from '../../../src/main/bridge/export/index.ts'
import { emptyRun } from '../../../src/shared/projection/index.ts'
import type { RunView } from '../../../src/shared/projection/index.ts'
import type { SessionView } from '../../../src/shared/bridge/index.ts'

const session: SessionView = {
  id: 's1',
  title: 'Fix: the `flaky` test / now',
  agentId: 'codex',
  workDir: '/home/me/api',
  extraDirs: [],
  mode: 'agent',
  choice: { connectionId: null, modelId: null, effort: 'default' },
  choiceLabel: 'Own login',
  rehearsal: false,
  configRev: 1,
  state: 'idle',
  activeRun: null,
  lastRun: null,
  pendingDecisions: 0,
  headSeq: 0,
  createdAt: 0,
  updatedAt: 0,
  archivedAt: null,
}

function turn(change: Partial<RunView> = {}): RunView {
  return { ...emptyRun('r1'), prompt: 'Fix it\nplease', state: 'completed', createdAt: 1, ...change }
}

describe('a session as Markdown', () => {
  test('DT-A36 holds the prompt, the words and what was run, in order', () => {
    const items: RunView['items'] = [
      { kind: 'text', seq: 1, messageId: 'm', text: 'I look at it.', at: 1 },
      {
        kind: 'tool',
        seq: 2,
        toolCallId: 'c',
        tool: 'execute',
        name: null,
        title: 'npm test',
        status: 'completed',
        paths: [],
        content: [{ type: 'output', text: '3 passed\n', exitCode: 0 }],
        allowedBy: null,
        startedAt: 1,
        finishedAt: 2,
      },
    ]
    const { text, filename, before } = exportPage({ session, turns: [turn({ items })], hasEarlier: false }, 'markdown')
    expect(filename).toBe('fix-the-flaky-test-now.md')
    expect(before).toBeNull()
    const order = [
      '# Fix: the',
      '> Fix it\n> please',
      'I look at it.',
      '`npm test` (completed)',
      '3 passed',
      '*completed*',
    ]
    const places = order.map((part) => text.indexOf(part))
    expect(places).not.toContain(-1)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  test('a fence in an output cannot end the block that shows it', () => {
    const output = 'a\n```\n# not a heading\n````\n'
    const items: RunView['items'] = [{ kind: 'thought', seq: 1, messageId: 'm', text: output, at: 1 }]
    const { text } = exportPage({ session, turns: [turn({ items })], hasEarlier: false }, 'markdown')
    expect(text).toContain(`\`\`\`\`\`\n${output}\`\`\`\`\``)
  })

  test('a session without a title still has a file name', () => {
    expect(exportPage({ session: { ...session, title: '…' }, turns: [], hasEarlier: false }, 'markdown').filename).toBe(
      'session.md',
    )
  })
})

describe('a session as JSON Lines', () => {
  test('DT-A36 is the session, then a turn a line; only the first page has the head, and pages join', () => {
    const newest = exportPage({ session, turns: [turn({ runId: 'r2' })], hasEarlier: true }, 'jsonl')
    expect(newest.before).toBe('r2')
    const oldest = exportPage({ session, turns: [turn()], hasEarlier: false }, 'jsonl')
    const lines = `${oldest.text}${newest.text}`.trim().split('\n')
    const read = lines.map((line): unknown => JSON.parse(line))
    expect(read).toMatchObject([
      { type: 'session', session: { title: session.title } },
      { type: 'turn', turn: { runId: 'r1' } },
      { type: 'turn', turn: { runId: 'r2' } },
    ])
  })
})
