/** The built entries, as the product ships them, made anew where a source is younger. */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { takeLock } from './lock-file.ts'

export const ROOT = resolve(import.meta.dirname, '../../../..')
const BUILT = join(ROOT, 'out')
const CACHE = join(ROOT, 'node_modules/.cache')
const TRIES = 5

const SOURCES = [
  'src/main/**/*.ts',
  'src/agent/**/*.ts',
  'src/mcp-bridge/**/*.ts',
  'src/shared/**/*.ts',
  'electron.vite.config.ts',
]
const ENTRIES = ['cli.js', 'serve.js', 'agent.js', 'mcp-bridge.js'].map((name) => join(BUILT, 'main', name))

let own: string | null = null

/** The folder of the entries: a copy of this process alone, so that a build meanwhile takes nothing away from it. */
export function entryDir(): string {
  if (own === null) throw new Error('ensureBuilt() comes first.')
  return join(own, 'main')
}

/**
 * For `beforeAll`: answers what puts it away again. Test files run beside each other: one of them builds, the others wait
 * for it.
 */
export async function ensureBuilt(): Promise<() => void> {
  await using _lock = await takeLock(join(CACHE, 'wheelhouse-build.lock'))
  for (let tries = 1; ; tries++) {
    if (isStale()) build()
    try {
      const copy = copyOfBuilt()
      own = copy
      return () => rmSync(copy, { recursive: true, force: true })
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}

function isStale(): boolean {
  try {
    const oldest = Math.min(...ENTRIES.map((entry) => statSync(entry).mtimeMs))
    return SOURCES.flatMap((glob) => globSync(glob, { cwd: ROOT })).some(
      (file) => statSync(join(ROOT, file)).mtimeMs > oldest,
    )
  } catch {
    return true
  }
}

function build(): void {
  const vite = join(ROOT, 'node_modules/electron-vite/bin/electron-vite.js')
  const done = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: ROOT, encoding: 'utf8' })
  // The main entries are built first: a fault further on is not this suite's.
  if (!ENTRIES.every((entry) => existsSync(entry))) throw new Error(`The build failed: ${done.stderr}`)
}

/** Beside the packages that the entries load. */
function copyOfBuilt(): string {
  const copy = mkdtempSync(join(CACHE, 'wheelhouse-built-'))
  // Another user may start it too.
  chmodSync(copy, 0o755)
  for (const part of ['main', 'renderer']) {
    if (existsSync(join(BUILT, part))) cpSync(join(BUILT, part), join(copy, part), { recursive: true })
  }
  const answer = spawnSync(process.execPath, [join(copy, 'main/cli.js'), '--version'], { encoding: 'utf8' })
  if (answer.status !== 0) rmSync(copy, { recursive: true, force: true })
  if (answer.status !== 0) throw new Error(`The built command does not run: ${answer.stderr}`)
  return copy
}
