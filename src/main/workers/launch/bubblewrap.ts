/**
 * Linux: the command inside of bubblewrap. It sees the whole file system, read-only but for what its scope names, and its
 * own processes alone; when it ends, all of them do. Everything that cannot be honoured is refused before it runs.
 */
import { execFile } from 'node:child_process'
import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import type { Clock } from '../../platform/types.ts'
import { LIMITS } from '../limits.ts'
import type { Launcher, Receipt, Scope } from '../types.ts'
import { unsupported } from './launcher.ts'
import { findProgram, isFolder } from './program.ts'

const OLDEST = [0, 6] as const
const TRIAL_MS = 2_000
const REMEMBERED_WORKERS = 64

export interface Sandbox extends Launcher {
  /** Whether it can be used on this machine; null: it can, else why not, for a person. Asked once it holds. */
  trial(): Promise<string | null>
}

export interface BubblewrapDeps {
  clock: Clock
  /** `PATH` of the host, which may be learned late. */
  path: () => string | undefined
  /** Wheelhouse's own folder: neither it nor what lies above it may be written from inside, and it is not seen there. */
  stateDir: string
  /** Sockets, and folders of them, that are not reached from inside. One that is not there is no error. */
  doors?: readonly string[]
  platform?: NodeJS.Platform
}

export function createBubblewrapLauncher(deps: BubblewrapDeps): Sandbox {
  const { clock, stateDir, doors = [], platform = process.platform } = deps
  const receipts = new Map<string, Receipt[]>()
  let usable: { program: string; version: string } | null = null

  async function find(): Promise<{ program: string; version: string } | string> {
    if (usable !== null) return usable
    if (platform !== 'linux') return 'Confining an agent needs bubblewrap, which is there on Linux alone.'
    const program = await findProgram('bwrap', deps.path())
    if (program === null) return 'bubblewrap is not installed.'
    const version = /(\d+)\.(\d+)\.\d+/.exec((await run(program, ['--version'])) ?? '')
    if (version === null || !isRecent(Number(version[1]), Number(version[2]))) {
      return `bubblewrap is too old: ${OLDEST.join('.')} is needed.`
    }
    const tried = await run(program, ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true'])
    if (tried === null) return 'This system does not let bubblewrap make a namespace.'
    usable = { program, version: version[0] }
    return usable
  }

  function note(scope: Scope, version: string): void {
    const { workerId, confine } = scope
    const all = receipts.get(workerId) ?? []
    const id = `bubblewrap ${version}, network ${confine?.network ?? 'host'}, writable ${confine?.writable.join(' ') ?? ''}`
    if (all.length < LIMITS.receipts) all.push({ kind: 'confined', id, url: null, atMs: clock.nowMs() })
    receipts.set(workerId, all)
    for (const oldest of receipts.keys()) {
      if (receipts.size <= REMEMBERED_WORKERS) break
      receipts.delete(oldest)
    }
  }

  return {
    name: 'bubblewrap',
    async trial() {
      const found = await find()
      return typeof found === 'string' ? found : null
    },
    async launch({ scope, command }) {
      const { confine, workDir } = scope
      if (confine === null) throw unsupported('this launcher only confines')
      const found = await find()
      if (typeof found === 'string') throw unsupported(found)
      const given = [...confine.writable, workDir, scope.privateDir, scope.socketDir]
      for (const path of given) {
        if (!isAbsolute(path) || !(await isFolder(path))) throw unsupported(`no folder to write in: ${path}`)
      }
      const followed = await Promise.all(given.map(follow))
      const writable = followed.map(({ real }) => real)
      const ownFolder = await realpath(stateDir).catch(() => stateDir)
      for (const { real, links } of followed) {
        if (isWithin(ownFolder, real)) throw unsupported(`it may not write in ${real}`)
        // It could have been laid from inside, to lead the next start anywhere.
        const laid = links.find((link) => writable.some((folder) => isWithin(link, folder)))
        if (laid !== undefined) throw unsupported(`a link leads there: ${laid}`)
      }
      const { readOnly, scratch = [] } = confine
      for (const path of [...readOnly, ...scratch]) {
        if (!isAbsolute(path)) throw unsupported(`no absolute path: ${path}`)
      }
      const args = ['--unshare-user', '--unshare-pid', '--die-with-parent']
      if (confine.network === 'none') args.push('--unshare-net')
      args.push('--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc')
      const mounts = [
        ...(await Promise.all([stateDir, ...doors].map(hidden))).flat(),
        ...[...new Set(writable)].map((path) => ({ path, mount: ['--bind', path, path] })),
        ...readOnly.map((path) => ({ path, mount: ['--ro-bind-try', path, path] })),
        ...scratch.map((path) => ({ path, mount: ['--tmpfs', path] })),
      ]
      // What lies deeper is mounted later, so that it stands.
      mounts.sort((a, b) => a.path.length - b.path.length)
      args.push(...mounts.flatMap(({ mount }) => mount))
      args.push('--chdir', workDir, '--', command.path, ...command.args)
      note(scope, found.version)
      return { workDir, command: { ...command, path: found.program, args } }
    },
    receipts: (workerId) => Promise.resolve([...(receipts.get(workerId) ?? [])]),
  }
}

function isRecent(major: number, minor: number): boolean {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

const MAX_LINKS = 40

/** Where a folder really lies, and where the links lie that lead to it. */
async function follow(path: string): Promise<{ real: string; links: readonly string[] }> {
  const links: string[] = []
  let real = '/'
  for (let names = path.split('/'); names.length > 0;) {
    const [name = '', ...rest] = names
    const next = join(real, name)
    names = rest
    if (!(await lstat(next)).isSymbolicLink()) real = next
    else {
      if (links.push(next) > MAX_LINKS) throw unsupported(`too many links: ${path}`)
      const target = await readlink(next)
      if (isAbsolute(target)) real = '/'
      names = [...target.split('/'), ...rest]
    }
  }
  return { real, links }
}

/** A folder is empty, and nobody listens at anything else. */
async function hidden(path: string): Promise<{ path: string; mount: string[] }[]> {
  const there = await stat(path).catch(() => null)
  if (there === null) return []
  return [{ path, mount: there.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path] }]
}

/** `path` is `folder`, or lies in it. */
function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

/** What it printed; null: it failed, or took too long. */
function run(program: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const env = { PATH: '/usr/bin:/bin', NODE_V8_COVERAGE: undefined }
    execFile(program, [...args], { env, timeout: TRIAL_MS, killSignal: 'SIGKILL' }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    )
  })
}
