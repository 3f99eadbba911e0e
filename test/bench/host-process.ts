/** The built browser host as a process of its own over a data folder, as `npm start` runs it on a machine without Electron. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createHostControl, createSystemClock } from '../../src/main/platform/index.ts'
import { createBridgeClient } from '../../src/shared/bridge/client.ts'
import type { Bridge } from '../../src/shared/bridge/client.ts'
import type { HostFrame } from '../../src/shared/bridge/index.ts'

const ROOT = join(import.meta.dirname, '../..')
const ENTRY_DIR = join(ROOT, 'out/main')
const START_MS = 30_000

export interface HostProcess extends AsyncDisposable {
  readonly pid: number
  /** The printed link, its token included. */
  readonly url: URL
  /** From the start of the process until it answered `GET /` with 200. */
  readonly readyMs: number
}

/** @throws Error with what the host said, when it does not answer within 30 s. */
export async function startHost(dataDir: string): Promise<HostProcess> {
  const serve = join(ENTRY_DIR, 'serve.js')
  if (!existsSync(serve)) throw new Error('There is no built tree. Run `npm run build` first.')
  const began = performance.now()
  const child = spawn(process.execPath, [serve], {
    cwd: ROOT,
    env: { ...process.env, WHEELHOUSE_HOME: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await exited
  }
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS)
  try {
    const url = await linkIn(child.stdout)
    if (url === null) throw new Error(`The host did not start: ${stderr}`)
    const answer = await fetch(new URL('/', url))
    await answer.arrayBuffer()
    const readyMs = performance.now() - began
    if (answer.status !== 200) throw new Error(`GET / answered ${answer.status}`)
    return { pid: child.pid ?? 0, url, readyMs, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(late)
  }
}

async function linkIn(output: NodeJS.ReadableStream): Promise<URL | null> {
  for await (const line of createInterface({ input: output })) {
    const link = /https?:\/\/\S+/.exec(line)?.[0]
    if (link !== undefined) return new URL(link)
  }
  return null
}

/** The bridge of the host that runs on this data folder, over its control socket. */
export async function connectTo(dataDir: string): Promise<Bridge & Disposable> {
  const role = await createHostControl().acquire(dataDir)
  if (role.kind === 'host') {
    await role.release()
    throw new Error('no host runs on this data folder')
  }
  const connection = await role.connect()
  const clock = createSystemClock()
  const bridge = createBridgeClient({
    connect(handlers) {
      connection.onFrame((frame) => handlers.frame(frame as HostFrame))
      connection.onClose(() => handlers.closed({ final: true, error: null }))
      return { send: (frame) => void connection.send(frame), close: () => connection.close() }
    },
    nowMs: () => clock.nowMs(),
    after: (ms, fn) => {
      const timer = clock.after(ms, fn)
      return () => timer[Symbol.dispose]()
    },
  })
  await new Promise<void>((resolve, reject) => {
    bridge.onStatus(({ kind }) => (kind === 'open' ? resolve() : reject(new Error(`the host is ${kind}`))))
  })
  return { ...bridge, [Symbol.dispose]: () => bridge.close() }
}

/** Time that it has spent at work, in ms. Linux only: elsewhere null. */
export function busyMs(pid: number): number | null {
  if (process.platform !== 'linux') return null
  // After the name in parentheses; the kernel counts in hundredths of a second.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = rest.split(' ').map(Number)
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10
}

/** Resident memory in MB of 10^6 bytes. Linux only: elsewhere null. */
export function residentMB(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const kib = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kib === undefined ? null : (Number(kib) * 1_024) / 1_000_000
}
