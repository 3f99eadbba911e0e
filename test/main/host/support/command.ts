/** The product's own entries as processes of their own, each with a home and a data folder of its own. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPILE_CACHE } from '../../../support/compile-cache.ts'
import { createTempDir } from '../../../support/dir.ts'
import { entryDir } from './built.ts'

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Started {
  readonly pid: number
  readonly ended: Promise<Ended>
  stdout(): string
  stderr(): string
  /** Resolves with the match once standard output or standard error has it; rejects when the process ends first. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  write(text: string): void
  /** Nobody reads its standard output any more. */
  closeStdout(): void
}

export interface Machine extends AsyncDisposable {
  /** The data folder. */
  readonly data: string
  /** An empty project folder. */
  readonly project: string
  at(...parts: string[]): string
  /** Starts `out/main/<entry>.js`. */
  start(args: readonly string[], options?: StartOptions): Started
  /** `start`, to its end. */
  run(args: readonly string[], options?: StartOptions): Promise<Ended & { stdout: string; stderr: string }>
  /** Pids of processes that carry a worker's mark and belong to this machine. */
  workers(): number[]
}

export interface StartOptions {
  entry?: 'cli' | 'serve'
  env?: Readonly<Record<string, string>>
  uid?: number
}

/** Ends what was started on it, and removes its folders. */
export function createMachine(): Machine {
  const dir = createTempDir()
  const home = dir.at('home')
  const project = dir.at('project')
  for (const folder of [home, project]) mkdirSync(folder)
  const data = dir.at('data')
  const running = new Set<Started>()

  const start: Machine['start'] = (args, { entry = 'cli', env = {}, uid } = {}) => {
    const child = spawn(process.execPath, [join(entryDir(), `${entry}.js`), ...args], {
      cwd: dir.path,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: home,
        LANG: 'C.UTF-8',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        WHEELHOUSE_HOME: data,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid, gid: uid }),
    })
    let stdout = ''
    let stderr = ''
    const watchers = new Set<() => void>()
    const told = (): void => {
      for (const watcher of watchers) watcher()
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      told()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      told()
    })
    child.stdin.on('error', () => undefined)
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }))
    })
    const started: Started = {
      pid: child.pid ?? -1,
      ended,
      stdout: () => stdout,
      stderr: () => stderr,
      says(pattern) {
        return new Promise((resolve, reject) => {
          const look = (): boolean => {
            const found = pattern.exec(stdout) ?? pattern.exec(stderr)
            if (found === null) return false
            watchers.delete(look)
            resolve(found)
            return true
          }
          watchers.add(look)
          if (look()) return
          void ended.then(
            () => look() || reject(new Error(`It ended without ${String(pattern)}:\n${stdout}\n${stderr}`)),
          )
        })
      },
      kill: (signal) => void child.kill(signal),
      write: (text) => void child.stdin.write(text),
      closeStdout: () => void child.stdout.destroy(),
    }
    running.add(started)
    void ended.then(() => running.delete(started))
    return started
  }

  return {
    data,
    project,
    at: dir.at,
    start,
    async run(args, options) {
      const started = start(args, options)
      const ended = await started.ended
      return { ...ended, stdout: started.stdout(), stderr: started.stderr() }
    },
    workers: () => markedProcesses(home),
    async [Symbol.asyncDispose]() {
      const left = [...running]
      for (const started of left) started.kill('SIGKILL')
      await Promise.all(left.map(({ ended }) => ended))
      for (const pid of markedProcesses(home)) endQuietly(pid)
      dir[Symbol.dispose]()
    },
  }
}

function markedProcesses(home: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
        return variables.includes(`HOME=${home}`) && variables.some((each) => each.startsWith('WHEELHOUSE_WORKER='))
      } catch {
        return false
      }
    })
    .map(Number)
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went by itself.
  }
}
