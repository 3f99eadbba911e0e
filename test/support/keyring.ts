import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { withCompileCache } from './compile-cache.ts'
import { createTempDir } from './dir.ts'

/** Whether this machine can run a Secret Service without a desktop. */
export function hasSecretService(): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const programs = ['dbus-run-session', 'gnome-keyring-daemon']
  return (
    process.platform === 'linux' && programs.every((name) => folders.some((folder) => existsSync(join(folder, name))))
  )
}

export interface Keyring extends Disposable {
  /**
   * Runs a script of ours with the arguments inside a session bus and a keyring of its own, which keeps its items from
   * run to run, and answers what the script printed. Locked: the keyring is there, but nobody typed its password.
   */
  run(script: string, args: readonly string[], state: 'unlocked' | 'locked'): Promise<string>
}

const RUN_MS = 60_000
const UNLOCK = 'printf test-password | gnome-keyring-daemon --unlock --components=secrets >/dev/null'
const START_LOCKED = 'gnome-keyring-daemon --start --components=secrets >/dev/null </dev/null'

export function createKeyring(): Keyring {
  const dir = createTempDir()
  mkdirSync(dir.at('run'), { mode: 0o700 })
  return {
    run: (script, args, state) => {
      // The daemon goes with its bus, whatever the script does.
      const command = `${state === 'unlocked' ? UNLOCK : START_LOCKED}; "$@"`
      const line = ['--', 'bash', '-c', command, '_', process.execPath, script, ...args]
      const { DISPLAY: _display, DBUS_SESSION_BUS_ADDRESS: _bus, ...inherited } = withCompileCache()
      const env = { ...inherited, HOME: dir.path, XDG_DATA_HOME: dir.at('data'), XDG_RUNTIME_DIR: dir.at('run') }
      return collect(spawn('dbus-run-session', line, { env, timeout: RUN_MS, stdio: ['ignore', 'pipe', 'pipe'] }))
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  }
}

async function collect(child: ReturnType<typeof spawn>): Promise<string> {
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code === 0) return Buffer.concat(out).toString('utf8')
  throw new Error(`the script in the keyring ended with ${code}: ${Buffer.concat(err).toString('utf8')}`)
}
