/** Whether an MCP server works: started as a session's agent would, asked for its tools, and ended again. */
import { z } from 'zod'
import type { McpServerInput, McpTestResult } from '../../../shared/mcp.ts'
import { AppError } from '../../../shared/errors.ts'
import { withDeadline } from '../../platform/index.ts'
import type { Clock, Ids, Log, Store } from '../../platform/index.ts'
import { BASE_ENV, buildEnv } from '../../workers/index.ts'
import type { Worker, Workers } from '../../workers/index.ts'
import { outcomeOf } from '../ledger.ts'
import type { WorkerLedger } from '../ledger.ts'
import type { McpServers } from './types.ts'

const ANSWER_MS = 30_000
const MAX_TOOLS = 256
const MAX_PAGES = 32
const LINE_BYTES = 4_194_304
/** Lines that answer nothing: logs, notifications. A server that writes on without end would take the whole host's time. */
const MAX_OTHER_LINES = 2_000

const Reply = z.object({
  id: z.int(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})
const Initialized = z.object({
  serverInfo: z.object({ name: z.string().max(200), version: z.string().max(200) }).optional(),
})
const Tools = z.object({ tools: z.array(z.object({ name: z.string().max(256) })), nextCursor: z.string().optional() })

export interface TestServerDeps {
  clock: Clock
  ids: Ids
  log: Log
  store: Store
  workers: Workers
  ledger: WorkerLedger
  servers: Pick<McpServers, 'resolveInput'>
  hostEnv(name: string): string | undefined
}

/** @throws AppError `input_invalid`, `credential_store_*`, `workers_full`, `aborted`: everything else is an answer. */
export async function testMcpServer(
  deps: TestServerDeps,
  input: McpServerInput,
  signal: AbortSignal,
): Promise<McpTestResult> {
  const { ids, workers, ledger, store } = deps
  const failed = (message: string, hint: string | null): McpTestResult => ({
    ok: false,
    server: null,
    tools: [],
    message,
    hint,
  })
  const tryIt = `Run \`${[input.command, ...input.args].join(' ')}\` in a terminal to see what it says.`
  let worker: Worker
  const workerId = ids.next()
  try {
    const { server, secrets } = await deps.servers.resolveInput(input, buildEnv(BASE_ENV, deps.hostEnv, {}))
    await store.writeTx((tx) =>
      ledger.starting({ workerId, kind: 'plugin', driver: null, sessionId: null, runId: null }, tx),
    )
    const cwd = input.scope.kind === 'project' ? input.scope.path : (deps.hostEnv('HOME') ?? '/')
    worker = await workers.spawn(
      {
        workerId,
        runId: '',
        product: `MCP server ${server.name}`,
        command: { path: server.command, args: server.args, env: server.env, cwd },
        redaction: { secrets, env: server.env, dirs: [] },
        onStarted: (process) => ledger.started(workerId, process),
        limits: { lineBytes: LINE_BYTES },
      },
      signal,
    )
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    await ledger.ended(workerId, outcomeOf(thrown))
    if (thrown.code === 'worker_not_found' || thrown.code === 'worker_not_started') return failed(thrown.message, tryIt)
    // What was never tried by itself is not to be tried in a terminal: a secret may stand in it.
    if (thrown.code === 'worker_unusable') return failed(thrown.message, null)
    throw thrown
  }
  const result = await ask(deps.clock, worker, signal).catch((thrown: unknown) => thrown)
  // Its last words are all there once it is gone.
  await ledger.ended(workerId, await worker.release({ closeStdinMs: 500, termGraceMs: 500 }))
  if (signal.aborted) throw new AppError('aborted', 'The test was given up.')
  if (isResult(result)) return result
  const said = worker.stderrTail()
  return failed(said === '' ? whyOf(result) : `${whyOf(result)} It said: ${said}`, tryIt)
}

function isResult(result: unknown): result is McpTestResult {
  return typeof result === 'object' && result !== null && 'ok' in result
}

function whyOf(thrown: unknown): string {
  if (thrown instanceof AppError) {
    return thrown.code === 'deadline_exceeded' ? 'It does not answer.' : 'It ended before it answered.'
  }
  return thrown instanceof z.ZodError || !(thrown instanceof Error)
    ? 'It answers in a form that is not that of an MCP server.'
    : thrown.message
}

async function ask(clock: Clock, worker: Worker, signal: AbortSignal): Promise<McpTestResult> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let over: Error | null = null
  let lastId = 0
  let others = 0
  const finish = (why: string): void => {
    over ??= new Error(why)
    for (const asked of waiting.values()) asked.reject(over)
  }
  worker.lines(
    (line) => {
      if (over !== null) return
      const reply = parseReply(line)
      const asked = reply === null ? undefined : waiting.get(reply.id)
      if (reply === null || asked === undefined) {
        if (++others > MAX_OTHER_LINES) finish('It writes on and on, and none of it is an answer.')
        return
      }
      if (reply.error === undefined) asked.resolve(reply.result)
      else asked.reject(new Error(`It answered: ${reply.error.message.slice(0, 200)}.`))
    },
    (why) => finish(why === 'line_too_long' ? 'It wrote a line of over 4 MiB.' : 'It ended before it answered.'),
  )
  const call = async (method: string, params: object): Promise<unknown> => {
    if (over !== null) throw over
    const id = (lastId += 1)
    const asked = Promise.withResolvers<unknown>()
    // It may be given up while nobody waits for it.
    asked.promise.catch(() => undefined)
    waiting.set(id, asked)
    await worker.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return asked.promise
  }
  return withDeadline(clock, ANSWER_MS, signal, async () => {
    const clientInfo = { name: 'wheelhouse', version: '1' }
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    const { serverInfo } = Initialized.parse(await call('initialize', hello))
    await worker.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    const tools: string[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
      const list = Tools.parse(await call('tools/list', cursor === undefined ? {} : { cursor }))
      tools.push(...list.tools.map(({ name }) => name))
      cursor = list.nextCursor
      if (cursor === undefined) break
    }
    return { ok: true, server: serverInfo ?? null, tools: tools.slice(0, MAX_TOOLS), message: '', hint: null }
  })
}

function parseReply(line: Uint8Array): z.infer<typeof Reply> | null {
  try {
    const reply = Reply.safeParse(JSON.parse(Buffer.from(line).toString('utf8')))
    return reply.success ? reply.data : null
  } catch {
    return null
  }
}
