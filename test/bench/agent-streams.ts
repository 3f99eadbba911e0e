/** What an agent's lines cost until they are content and updates, against a splitter that only parses their JSON. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createIds, createSecret, createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import { createAcpConversation } from '../../src/main/workers/drivers/acp/session.ts'
import { openSession as openClaude } from '../../src/main/workers/drivers/claude/session.ts'
import { openSession as openCodex } from '../../src/main/workers/drivers/codex/session.ts'
import type { DriverDeps, StartedWorker } from '../../src/main/workers/drivers/shared/types.ts'
import { LIMITS } from '../../src/main/workers/index.ts'
import type { PermissionMode, Session } from '../../src/main/workers/index.ts'
import { createLineReader } from '../../src/main/workers/text/line-reader.ts'
import { createRedactor } from '../../src/main/workers/text/redactor.ts'
import { never } from '../support/acp-worker.ts'
import { createMemoryLog } from '../support/log.ts'
import type { Benchmark, Figure } from './types.ts'

const LINES = 200_000
const BLOCK = 1_000
const ROUNDS = 3
const CHUNK = 65_536
const LINE_BYTES = 1_024
const CALL = 'call-'
const CALL_DIGITS = 8
const CALL_ID = `${CALL}${'0'.repeat(CALL_DIGITS)}`
const SESSION = '00000000-0000-4000-8000-000000000000'

type Message = Readonly<Record<string, unknown>>

interface Agent {
  name: string
  target: number
  /** A line of a turn, carrying `said`. */
  line(kind: 'text' | 'call', said: string): Message
  /** A conversation in the middle of a turn, whose agent's output is pushed by the caller. */
  open(onContent: () => void): Promise<(chunk: Uint8Array) => void>
}

/** A worker that is no process: what the driver writes is answered by `answer`. */
function createPeer(onContent: () => void, mode: PermissionMode, answer: (message: Message) => Message[]) {
  let reader: ReturnType<typeof createLineReader> | null = null
  const push = (chunk: Uint8Array): void => void reader?.push(chunk)
  const worker = {
    workerId: 'bench',
    process: { pid: 0 },
    exited: new Promise(() => undefined),
    write(line: string) {
      const answers = answer(JSON.parse(line) as Message)
      if (answers.length > 0) setImmediate(() => push(bytesOf(answers)))
      return Promise.resolve()
    },
    lines(onLine: (line: Uint8Array) => void) {
      reader = createLineReader(LIMITS.lineBytes, onLine)
    },
    stderrTail: () => '',
    dropKey: () => undefined,
    onRelease: () => undefined,
    release: () => Promise.resolve({ kind: 'gone', strongest: 'none', strays: [] }),
  }
  const cfg = {
    workerId: 'bench',
    cwd: '/',
    addDirs: [],
    history: null,
    mcpServers: [],
    mcp: 'with_users_own',
    route: null,
    content: { write: onContent },
    policy: { rules: () => ({ mode, allowKinds: [], allowMcpServers: [], unattended: true }) },
  }
  const secrets = ['sk-bench-0123456789abcdefghijklmnop', 'rt_bench_9876543210'].map((value) => createSecret(value))
  const keys = createSecretRegistry()
  keys.add(createSecret('sk-host-9876543210zyxwvutsrqponm'), 'a key of a Provider')
  const redactor = createRedactor(keys, {
    secrets,
    env: { TOKEN: 'bench-token-1' },
    dirs: ['/run/wh'],
  })
  const started = {
    worker,
    cfg,
    limits: LIMITS,
    redactor,
    env: {},
  } as unknown as StartedWorker
  const deps = { clock: createSystemClock(), ids: createIds(), log: createMemoryLog() } as unknown as DriverDeps
  return { started, deps, push }
}

function bytesOf(messages: readonly Message[]): Buffer {
  return Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
}

async function prompted(session: Session): Promise<void> {
  const prompt = { text: 'go', inputs: [], clientMessageId: 'one', literal: false }
  session.prompt(prompt).catch(() => undefined)
  // Until what opens the turn has been read.
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve))
}

const acp: Agent = {
  name: 'ACP',
  target: 2.5,
  line: (kind, said) => ({
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      sessionId: SESSION,
      update:
        kind === 'text'
          ? { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said } }
          : {
              sessionUpdate: 'tool_call',
              toolCallId: CALL_ID,
              title: 'Run',
              kind: 'execute',
              status: 'pending',
              rawInput: { command: said },
            },
    },
  }),
  open(onContent) {
    const { started, deps, push } = createPeer(onContent, 'ask', () => [])
    const profile = { product: 'Bench', reasonInAnswer: false } as Parameters<typeof createAcpConversation>[2]
    createAcpConversation(started, deps, profile, 'ask').sessionId = SESSION
    return Promise.resolve(push)
  },
}

const claude: Agent = {
  name: 'Claude Code',
  target: 2,
  line: (kind, said) =>
    kind === 'text'
      ? {
          type: 'stream_event',
          event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } },
          parent_tool_use_id: null,
          session_id: SESSION,
        }
      : {
          type: 'assistant',
          message: {
            id: 'msg',
            type: 'message',
            role: 'assistant',
            content: [{ type: 'tool_use', id: CALL_ID, name: 'Bash', input: { command: said } }],
          },
          parent_tool_use_id: null,
          session_id: SESSION,
        },
  async open(onContent) {
    const { started, deps, push } = createPeer(onContent, 'ask', ({ type, request_id: id, request }) => {
      if (type === 'user') {
        const init = { session_id: SESSION, tools: [], mcp_servers: [], model: 'm', permissionMode: 'default' }
        return [{ type: 'system', subtype: 'init', ...init }]
      }
      const response = (request as Message)['subtype'] === 'mcp_status' ? { mcpServers: [] } : { commands: [] }
      return [{ type: 'control_response', response: { subtype: 'success', request_id: id, response } }]
    })
    await prompted(await openClaude(deps, started, { kind: 'new', sessionId: SESSION }, null, never))
    return push
  },
}

const codex: Agent = {
  name: 'Codex',
  target: 2,
  line: (kind, said) => {
    const turn = { threadId: SESSION, turnId: 't' }
    if (kind === 'text') return { method: 'item/agentMessage/delta', params: { ...turn, itemId: 'm', delta: said } }
    const command = `/bin/bash -lc '${said}'`
    const item = { type: 'commandExecution', id: CALL_ID, command, cwd: '/', status: 'inProgress' }
    return { method: 'item/started', params: { ...turn, item } }
  },
  async open(onContent) {
    const replies: Readonly<Record<string, unknown>> = {
      initialize: { userAgent: 'bench' },
      'config/read': { config: {} },
      'thread/start': {
        thread: { id: SESSION },
        model: 'm',
        cwd: '/',
        approvalPolicy: 'untrusted',
        approvalsReviewer: 'user',
        sandbox: { type: 'readOnly', networkAccess: false },
      },
      'turn/start': { turn: { id: 't' } },
    }
    const { started, deps, push } = createPeer(onContent, 'read_only', ({ id, method }) =>
      id === undefined ? [] : [{ id, result: replies[String(method)] ?? {} }],
    )
    const { session } = await openCodex(deps, started, { args: [], config: {} }, { kind: 'new' }, never)
    await prompted(session)
    return push
  },
}

/** Lines of 1 KiB, half of them text, half tool calls. */
function blockOf({ line }: Agent): Buffer {
  const text = 'word '.repeat(LINE_BYTES / 5)
  return bytesOf(
    Array.from({ length: BLOCK }, (_, n) => {
      const kind = n % 2 === 0 ? 'text' : 'call'
      const around = JSON.stringify(line(kind, '')).length + 1
      return line(kind, text.slice(0, LINE_BYTES - around))
    }),
  )
}

/** Gives each call of the block an id that no call had before. */
function renumber(block: Buffer, from: number): void {
  let next = from
  for (let at = block.indexOf(CALL); at !== -1; at = block.indexOf(CALL, at + 1)) {
    block.write(`${next}`.padStart(CALL_DIGITS, '0'), at + CALL.length)
    next += 1
  }
}

function bareSplitter(): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let at = whole.indexOf(10); at !== -1; at = whole.indexOf(10, from)) {
      JSON.parse(whole.toString('utf8', from, at))
      from = at + 1
    }
    rest = whole.subarray(from)
  }
}

function feed(block: Buffer, push: (chunk: Buffer) => void): void {
  for (let at = 0; at < block.length; at += CHUNK) push(block.subarray(at, at + CHUNK))
}

/** Microseconds of all threads: garbage is somebody's too, and what else the machine does is not. */
function processorTime(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Both take each block in turn, so that whatever else the machine does is shared by them. */
async function cost(agent: Agent): Promise<Figure> {
  const block = blockOf(agent)
  let seen = 0
  const push = await agent.open(() => (seen += 1))
  const bare = bareSplitter()
  const samples: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    seen = 0
    let ours = 0
    let plain = 0
    for (let done = 0; done < LINES; done += BLOCK) {
      renumber(block, round * LINES + done)
      plain += processorTime(() => feed(block, bare))
      ours += processorTime(() => feed(block, push))
    }
    if (seen < LINES) throw new Error(`only ${seen} items arrived`)
    samples.push(ours / plain)
  }
  return {
    name: `${agent.name} line, reading and checking`,
    unit: 'times',
    value: Math.min(...samples),
    samples,
    target: { kind: 'at_most', value: agent.target },
  }
}

const AGENTS: readonly Agent[] = [acp, claude, codex]

/** What a line of that agent costs, measured in this process. */
export function costOf(name: string): Promise<Figure> {
  const agent = AGENTS.find((each) => each.name === name)
  if (agent === undefined) throw new Error(`there is no agent ${name}`)
  return cost(agent)
}

/** P-1. */
export const agentStreams: Benchmark = {
  name: 'agent-streams',
  group: 'workers',
  how: `${LINES} lines of 1 KiB from an agent, half text and half tool calls, from bytes to validated and redacted content and updates, against a bare splitter that only parses the JSON, block by block in turn. Each agent in a process of its own, so that none pays for what another left. Best of ${ROUNDS}.`,
  async run() {
    const figures: Figure[] = []
    for (const { name } of AGENTS) {
      const child = fork(join(import.meta.dirname, 'agent-stream-process.ts'), [name])
      const [figure] = (await once(child, 'message')) as [Figure]
      figures.push(figure)
    }
    return figures
  },
}
