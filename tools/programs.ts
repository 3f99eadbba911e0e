/**
 * `npm run programs`: names every program that `npm test` needs and this machine lacks, one a line with how to get it, and
 * ends with 1 when there is any. A suite that skipped what it cannot run would look like one that passed.
 */
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { spawnSync } from 'node:child_process'

const NODE_MAJOR = 24
/** The first that is there serves. The headless shell draws pages alone, not a browser's own windows, in two thirds of the time. */
const CHROMIUM_NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
]

export interface Machine {
  platform: NodeJS.Platform
  nodeVersion: string
  /** Whether a program of this name can be started. */
  hasProgram(name: string): boolean
  /** Whether pkg-config knows the development files of this library. */
  hasHeaders(library: string): boolean
  /** Why the module cannot be loaded; null: it can. */
  loadFailure(name: string): string | null
}

/** One line for each program that is missing. */
export function missingPrograms(machine: Machine): readonly string[] {
  const missing: string[] = []
  const major = Number(machine.nodeVersion.replace(/^v/, '').split('.')[0])
  if (!(major >= NODE_MAJOR)) {
    missing.push(
      `node ${NODE_MAJOR} (this is ${machine.nodeVersion}): run \`npm ci\`, then start it by npm, which brings its own`,
    )
  }
  // Elsewhere the suites that need them do not run.
  if (machine.platform !== 'linux') return missing

  if (!CHROMIUM_NAMES.some(machine.hasProgram)) missing.push('chromium: apt-get install chromium')
  const packages = {
    'gnome-keyring-daemon': 'gnome-keyring',
    'dbus-run-session': 'dbus',
    'dbus-daemon': 'dbus',
    dunst: 'dunst',
    Xvfb: 'xvfb',
    bwrap: 'bubblewrap',
  }
  for (const [name, from] of Object.entries(packages)) {
    if (!machine.hasProgram(name)) missing.push(`${name}: apt-get install ${from}`)
  }
  const failure = machine.loadFailure('keytar')
  if (failure !== null) missing.push(`keytar: ${keytarAdvice(machine)} (${failure})`)
  return missing
}

/** npm leaves keytar out without a word when it cannot be built. */
function keytarAdvice(machine: Machine): string {
  if (machine.hasHeaders('libsecret-1')) return 'run `npm ci` again, which builds it'
  return 'apt-get install libsecret-1-dev pkg-config g++ make, then run `npm ci` again'
}

function thisMachine(): Machine {
  const require = createRequire(import.meta.url)
  return {
    platform: process.platform,
    nodeVersion: process.version,
    hasProgram: (name) => programPath(name) !== null,
    hasHeaders: (library) => spawnSync('pkg-config', ['--exists', library]).status === 0,
    loadFailure(name) {
      try {
        require(name)
        return null
      } catch (error) {
        return String(error).split('\n')[0] ?? ''
      }
    },
  }
}

/** The Chromium that the browser suites start: `CHROMIUM_PATH`, else the first of the known names on PATH. */
export function chromiumPath(): string {
  const found = process.env['CHROMIUM_PATH'] ?? CHROMIUM_NAMES.map(programPath).find((path) => path !== null)
  if (found === undefined) throw new Error(`none of ${CHROMIUM_NAMES.join(', ')} is on PATH`)
  return found
}

function programPath(name: string): string | null {
  const places = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name))
  return places.find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

if (import.meta.main) {
  const missing = missingPrograms(thisMachine())
  for (const line of missing) console.error(`missing: ${line}`)
  process.exitCode = missing.length > 0 ? 1 : 0
}
