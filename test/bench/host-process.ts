/** The built browser host as a process of its own over a data folder, as `npm start` runs it on a machine without Electron. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openCliBridge } from '../../src/main/cli/bridge.ts'
import type { CliBridge } from '../../src/main/cli/bridge.ts'

const ROOT = join(import.meta.dirname, '../..')
export const ENTRY_DIR = join(ROOT, 'out/main')
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

/** A client of the host that runs on this data folder, as the command line is one. */
export function connectTo(dataDir: string): Promise<CliBridge> {
  return openCliBridge({ dataDir, entryDir: ENTRY_DIR, interrupted: new AbortController().signal })
}

/** Resident memory in MB of 10^6 bytes. Linux only: elsewhere null. */
export function residentMB(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const kib = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kib === undefined ? null : (Number(kib) * 1_024) / 1_000_000
}
