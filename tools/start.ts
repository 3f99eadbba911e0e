/**
 * `npm start`: builds what is stale, then starts the app in Electron where its binary is on the machine or can be had
 * within a minute; otherwise says in one line why not, and starts the browser host, which prints its link.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const DOWNLOAD_MS = 60_000
const PARENT_LOOK_MS = 500
const HELP = `Usage: npm start [-- OPTIONS]

Starts Wheelhouse: as an app, or as a host that a browser opens, where there is no display or no Electron.
  --browser   do not try Electron
  --port N    in the browser: this port and no other
  --demo      open a rehearsal session at once

The command line: npm run -s wheelhouse -- --help`

const root = dirname(import.meta.dirname)
const args = process.argv.slice(2)

if (args.includes('--help') || args.includes('-h')) {
  console.log(HELP)
  process.exit()
}
if (isStale()) build()
const electron = args.includes('--browser') ? { path: null, why: 'asked for by --browser' } : findElectron()
if (electron.path === null) {
  console.error(`Starting in the browser: ${electron.why}.`)
  run(process.execPath, [join(root, 'out/main/serve.js'), ...args.filter((arg) => arg !== '--browser')])
} else {
  run(electron.path, [root, ...args])
}

function isStale(): boolean {
  const built = ['out/main/index.js', 'out/main/serve.js', 'out/preload/index.cjs', 'out/renderer/index.html'].map(
    (file) => join(root, file),
  )
  if (!built.every((file) => existsSync(file))) return true
  const oldest = Math.min(...built.map((file) => statSync(file).mtimeMs))
  const sources = globSync(['src/**/*.{ts,tsx,css,html}', 'package.json', 'electron.vite.config.ts'], { cwd: root })
  return sources.some((file) => statSync(join(root, file)).mtimeMs > oldest)
}

function build(): void {
  const vite = join(root, 'node_modules/electron-vite/bin/electron-vite.js')
  const done = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (done.status !== 0) process.exit(done.status ?? 1)
}

/** The package brings no binary: its first use fetches one. A machine that cannot have it gets the browser host. */
function findElectron(): { path: string; why: null } | { path: null; why: string } {
  const folder = dirname(createRequire(import.meta.url).resolve('electron/package.json'))
  const binary = (): string | null => {
    const pathFile = join(folder, 'path.txt')
    const path = existsSync(pathFile) ? join(folder, 'dist', readFileSync(pathFile, 'utf8').trim()) : ''
    return path !== '' && existsSync(path) ? path : null
  }
  const missing = withoutDisplay()
  if (missing !== null) return missing
  const present = process.env['ELECTRON_EXEC_PATH'] ?? binary()
  if (present !== null) return { path: present, why: null }
  const install = join(folder, 'install.js')
  if (existsSync(install))
    spawnSync(process.execPath, [install], { cwd: folder, stdio: 'ignore', timeout: DOWNLOAD_MS })
  const fetched = binary()
  return fetched === null
    ? { path: null, why: 'Electron’s binary is not on this machine and could not be downloaded' }
    : { path: fetched, why: null }
}

function withoutDisplay(): { path: null; why: string } | null {
  if (process.platform !== 'linux') return null
  if ((process.env['DISPLAY'] ?? '') !== '' || (process.env['WAYLAND_DISPLAY'] ?? '') !== '') return null
  return { path: null, why: 'this machine has no display' }
}

function run(command: string, commandArgs: string[]): void {
  const child = spawn(command, commandArgs, { cwd: process.cwd(), stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)))
  endWithNpm(() => child.kill('SIGTERM'))
}

/** npm hands a signal to its shell, and the shell hands it to nobody: what it ran would go on without anyone to end it. */
function endWithNpm(end: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    end()
  }, PARENT_LOOK_MS)
}
