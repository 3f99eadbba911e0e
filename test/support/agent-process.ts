/** The built-in agent as a real process over stdio, with a small ACP client on the other end. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const ENTRY = resolve(import.meta.dirname, '../../src/agent/index.ts')
const COMPILE_CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/agent')

// The agent's frames are what the tests are about: they are looked at as they come.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

export interface Frame {
  id?: number | string | null
  method?: string
  params?: Json
  result?: Json
  error?: { code: number; message: string; data?: Json }
}

/** Answers a permission request; a promise that never resolves leaves it open. */
export type Answering = (params: Json) => Json

export interface AgentProcess {
  child: ChildProcess
  frames: Frame[]
  /** Everything it wrote on standard error. */
  stderr(): string
  call(method: string, params: object): Promise<Json>
  notify(method: string, params: object): void
  raw(text: string): void
  /** The `update` of every session/update so far, or of one kind. */
  updates(kind?: string): Json[]
  permissions(): Json[]
  answerWith(answering: Answering): void
  /** Resolves with the first frame that `test` takes, old or new. */
  waitFor(test: (frame: Frame) => boolean): Promise<Frame>
  /** A session in `mode`, initialized before. */
  session(cwd: string, mode?: string, more?: object): Promise<string>
  prompt(sessionId: string, text: string): Promise<Json>
  end(): Promise<number | null>
}

export const allow: Answering = () => ({ outcome: { outcome: 'selected', optionId: 'allow_once' } })
export const deny =
  (reason?: string): Answering =>
  () => ({
    outcome: { outcome: 'selected', optionId: 'reject_once' },
    ...(reason === undefined ? {} : { _meta: { wheelhouse: { reason } } }),
  })

export class CallError extends Error {
  readonly code: number
  readonly data: Json
  constructor(error: { code: number; message: string; data?: Json }) {
    super(error.message)
    this.code = error.code
    this.data = error.data
  }
}

export function startAgentProcess(options: {
  model?: { baseUrl: string; protocol: 'responses' | 'messages'; modelId?: string; effort?: string }
  key?: string
  home?: string
  env?: Record<string, string>
}): AgentProcess {
  const { model, key } = options
  const descriptor = key === undefined ? 'ignore' : keyDescriptor(key)
  const child = spawn(process.execPath, [ENTRY], {
    stdio: ['pipe', 'pipe', 'pipe', descriptor],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      // Each test starts the agent anew: what was compiled once is not compiled again.
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ELECTRON_RUN_AS_NODE: '1',
      WHEELHOUSE_WORKER: 'mark-of-the-worker',
      ...(key === undefined ? {} : { WHEELHOUSE_MODEL_KEY_FD: '3' }),
      ...(model === undefined
        ? {}
        : {
            WHEELHOUSE_MODEL_BASE_URL: model.baseUrl,
            WHEELHOUSE_MODEL_PROTOCOL: model.protocol,
            WHEELHOUSE_MODEL_ID: model.modelId ?? 'fake-model',
            WHEELHOUSE_MODEL_EFFORT: model.effort ?? 'default',
          }),
      ...(options.home === undefined ? {} : { WHEELHOUSE_AGENT_HOME: options.home }),
      ...options.env,
    },
  })
  if (typeof descriptor === 'number') closeSync(descriptor)
  const frames: Frame[] = []
  const waiting: { test: (frame: Frame) => boolean; resolve: (frame: Frame) => void }[] = []
  let answering: Answering = allow
  let nextId = 0
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const raw = (text: string): void => void child.stdin?.write(`${text}\n`)
  const send = (message: object): void => raw(JSON.stringify({ jsonrpc: '2.0', ...message }))

  const lines = createInterface({ input: child.stdout ?? process.stdin })
  lines.on('line', (line) => {
    const frame = JSON.parse(line) as Frame
    frames.push(frame)
    for (const waiter of waiting.filter(({ test }) => test(frame))) {
      waiting.splice(waiting.indexOf(waiter), 1)
      waiter.resolve(frame)
    }
    if (frame.method === 'session/request_permission') {
      void Promise.resolve(answering(frame.params)).then((result) => send({ id: frame.id, result }))
    }
  })

  const agent: AgentProcess = {
    child,
    frames,
    stderr: () => stderr,
    async call(method, params) {
      const id = (nextId += 1)
      const answered = agent.waitFor((frame) => frame.method === undefined && frame.id === id)
      send({ id, method, params })
      const frame = await answered
      if (frame.error !== undefined) throw new CallError(frame.error)
      return frame.result
    },
    notify: (method, params) => send({ method, params }),
    raw,
    updates: (kind) =>
      frames
        .filter((frame) => frame.method === 'session/update')
        .map((frame) => frame.params.update)
        .filter((update) => kind === undefined || update.sessionUpdate === kind),
    permissions: () => frames.filter((frame) => frame.method === 'session/request_permission').map((f) => f.params),
    answerWith: (next) => (answering = next),
    waitFor(test) {
      const known = frames.find(test)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => waiting.push({ test, resolve }))
    },
    async session(cwd, mode, more = {}) {
      await agent.call('initialize', { protocolVersion: 1, clientCapabilities: {} })
      const { sessionId } = await agent.call('session/new', { cwd, mcpServers: [], ...more })
      if (mode !== undefined) await agent.call('session/set_mode', { sessionId, modeId: mode })
      return sessionId
    },
    prompt: (sessionId, text) => agent.call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    async end() {
      child.stdin?.end()
      const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
      const code = await exited
      clearTimeout(late)
      return code
    },
  }
  return agent
}

/** As the host hands it over: an unlinked private file, its offset behind the key. */
function keyDescriptor(key: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'agent-key-'))
  const path = join(folder, 'key')
  const descriptor = openSync(path, 'w+', 0o600)
  writeFileSync(descriptor, key)
  unlinkSync(path)
  rmSync(folder, { recursive: true })
  return descriptor
}

/** What the agent said, deltas joined. */
export function saidText(agent: AgentProcess): string {
  return agent
    .updates('agent_message_chunk')
    .map((update) => update.content.text)
    .join('')
}
