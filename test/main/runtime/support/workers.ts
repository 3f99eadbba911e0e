import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import Sqlite from 'better-sqlite3'
import { withCompileCache } from '../../../support/compile-cache.ts'
import { createFastTempDir } from '../../../support/dir.ts'

export const PROGRAM = fileURLToPath(new URL('../../../fixtures/runtime/worker.ts', import.meta.url))

export interface RuntimeProcess extends AsyncDisposable {
  pid: number
  /** @throws Error whose message is the code of the product's error, or `died`. */
  call<T = unknown>(op: string, args?: Record<string, string>): Promise<T>
  kill(): Promise<void>
  readonly died: Promise<void>
}

export interface ProcessOptions {
  killAt?: { name: string; times: number }
  endWork?: boolean
  ownerHost?: string
  webhook?: { url: string; idempotencyHeader: string | null }
  aheadMs?: number
}

interface Reply {
  id: number
  ok: boolean
  value?: unknown
  code?: string
}

/** Starts a process of its own with a runtime over the database in `dir`, ready to be called. */
export function startProcess(dir: string, options: ProcessOptions = {}, program = PROGRAM): Promise<RuntimeProcess> {
  return spawnProcess(program, options.webhook !== undefined).open(dir, options)
}

export interface SpareProcess {
  open(dir: string, options?: ProcessOptions): Promise<RuntimeProcess>
  kill(): Promise<void>
}

/** A process that loads the runtime, and then waits to be told over which database. */
export function spawnProcess(program: string, withWebhook: boolean): SpareProcess {
  const child = fork(program, withWebhook ? ['webhook'] : [], {
    // A larger young generation spares a process that lives this short its collections.
    execArgv: ['--disable-warning=ExperimentalWarning', '--min-semi-space-size=16'],
    env: withCompileCache(),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  let calls = 0
  const died = new Promise<void>((resolve) => {
    child.once('exit', () => {
      for (const settle of waiting.values()) settle({ id: 0, ok: false, code: 'died' })
      resolve()
    })
  })
  const answer = (id: number): Promise<Reply> => new Promise((resolve) => waiting.set(id, resolve))
  child.on('message', (reply: Reply) => {
    waiting.get(reply.id)?.(reply)
    waiting.delete(reply.id)
  })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await died
  }
  const opened: RuntimeProcess = {
    pid: child.pid ?? 0,
    async call<T>(op: string, args: Record<string, string> = {}): Promise<T> {
      const id = ++calls
      const reply = answer(id)
      child.send({ id, op, args }, () => undefined)
      const { ok, value, code } = await reply
      if (!ok) throw new Error(code)
      return value as T
    },
    kill,
    died,
    [Symbol.asyncDispose]: kill,
  }
  return {
    async open(dir, options = {}) {
      const ready = answer(0)
      child.send({ open: { dir, ...options } }, () => undefined)
      if (!(await ready).ok) throw new Error('the process did not start')
      return opened
    },
    kill,
  }
}

export interface SharedDatabase extends Disposable {
  dir: string
  rows<T = Record<string, unknown>>(sql: string): T[]
  /** Waits until `sql` answers at least one row. */
  until<T = Record<string, unknown>>(sql: string): Promise<T>
}

/** A folder for processes to share, and a look into its database. */
export function createSharedDatabase(): SharedDatabase {
  const temp = createFastTempDir()
  function rows<T>(sql: string): T[] {
    const db = new Sqlite(temp.at('wheelhouse.db'), { readonly: true, timeout: 5_000 })
    try {
      return db.prepare<[], T>(sql).all()
    } finally {
      db.close()
    }
  }
  return {
    dir: temp.path,
    rows,
    async until<T>(sql: string): Promise<T> {
      for (let tries = 0; tries < 2_400; tries++) {
        const [row] = rows<T>(sql)
        if (row !== undefined) return row
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
      throw new Error(`never came true: ${sql}`)
    },
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  }
}
