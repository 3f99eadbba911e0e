/**
 * Whether looking at a repository starts a program. `git status` and `git diff` run what the repository's own settings
 * name (a diff driver, a filter, a file monitor), and those may have come with a folder or been written by an agent.
 * The person's own settings, and the attributes that choose among them, are theirs. Synchronous and bounded, never
 * through a link of another kind than Git itself follows: the policy answers at once, and what cannot be read counts.
 */
import { isUtf8 } from 'node:buffer'
import { accessSync, closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { gitlinksOf } from './git-index.ts'
import { settingsOf } from './git-settings.ts'

const MAX_SETTINGS_BYTES = 64 * 1024
const MAX_INDEX_BYTES = 8 * 1024 * 1024
const MAX_REPOSITORIES = 32
const NUL = 0

/**
 * What a looking subcommand may start; `true` and `false` of `core.fsmonitor` are Git's own. `--remerge-diff` merges, and
 * `--help` shows a page. In a name any character may stand, a line separator too.
 */
const PROGRAM =
  /^(?:core\.(?:fsmonitor|pager|alternaterefscommand)|pager\..*|diff\.external|diff\..*\.(?:command|textconv)|merge\..*\.driver|filter\..*\.(?:clean|smudge|process)|gpg\.(?:.*\.)?program|(?:man|browser)\..*\.(?:cmd|path))$/s
/** A repository without all of its objects fetches what it misses, whoever looks: any way to its remote may be a program. */
const PARTIAL = /^(?:extensions\.partialclone|remote\..*\.promisor)$/s
/** What makes other files the settings, or another folder the one that is looked at. */
const ELSEWHERE = /^(?:include\.path|includeif\..*\.path|core\.worktree)$/s
/** With another form than these, a diff of two commits is made inside of what they say is a repository. */
const SHORT_FORM = /^(?:log|short|)$/
const OWN = /^(?:true|false|yes|no|on|off|0|1|)$/i
const POINTER = 'gitdir: '

/** Why Git may start a program when it looks at what `folder` (absolute) is in; null: it starts none. */
export function gitRuns(folder: string): string | null {
  const open = [folder]
  const seen = new Set<string>()
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const found = repositoriesOf(physical(at))
    if (found === null) return 'Where it lies cannot be read.'
    for (const each of found) {
      if (seen.has(each.dir)) continue
      seen.add(each.dir)
      if (seen.size > MAX_REPOSITORIES) return 'It holds more repositories than are looked at.'
      const why = ownRuns(each)
      if (why !== null) return why
      const inner = innerRepositories(each)
      if (inner === null) return 'Its index cannot be read.'
      for (const dir of inner) open.push(dir)
    }
  }
  return null
}

interface Repository {
  /** Where HEAD and the index are. */
  dir: string
  /** Where the settings are: for a linked worktree, in the main repository. */
  common: string
  worktree: string | null
}

/**
 * A path as the kernel takes it, from a folder: `..` climbs from where a link led to, not from what the text names. What is
 * not there is kept as its text, since nothing can be started in it.
 */
function physical(path: string, from: string = sep): string {
  try {
    return realpathSync.native(isAbsolute(path) ? path : `${from}${sep}${path}`)
  } catch {
    return resolve(from, path)
  }
}

/**
 * As Git looks for it: a `.git` in the folder or above it, or a folder that is a repository itself. Git passes by what it
 * takes for none, so all up to the first that is one for sure may be the one that it takes. Null: nobody can tell.
 */
function repositoriesOf(folder: string): Repository[] | null {
  const found: Repository[] = []
  for (let at = folder; ; at = dirname(at)) {
    const dotGit = join(at, '.git')
    const pointed = read(dotGit, MAX_SETTINGS_BYTES)
    const pointer = pointed?.kind === 'text' ? lineOf(pointed.bytes) : null
    if (pointed?.kind === 'unreadable' || (pointed?.kind === 'text' && pointer === null)) return null
    const dirs: Omit<Repository, 'common'>[] = []
    if (pointed?.kind === 'folder') dirs.push({ dir: dotGit, worktree: at })
    if (pointer?.startsWith(POINTER) === true)
      dirs.push({ dir: physical(pointer.slice(POINTER.length), at), worktree: at })
    if (exists(join(at, 'HEAD'))) dirs.push({ dir: at, worktree: null })
    for (const each of dirs) {
      const common = commonOf(each.dir)
      if (common === null) return null
      const repository = { ...each, common }
      if (each.dir === at && !PARTS.every((name) => exists(join(common, name)))) continue
      found.push(repository)
      if (isSurelyOne(repository)) return found
    }
    if (dirname(at) === at) return found
  }
}

/** Of a repository, besides its HEAD. */
const PARTS = ['objects', 'refs']

function commonOf(dir: string): string | null {
  const pointer = read(join(dir, 'commondir'), MAX_SETTINGS_BYTES)
  if (pointer === null) return dir
  const line = pointer.kind === 'text' ? lineOf(pointer.bytes) : null
  return line === null ? null : physical(line, dir)
}

/** By Git's own conditions, or stricter ones. */
function isSurelyOne({ dir, common }: Repository): boolean {
  const path = join(dir, 'HEAD')
  const head = isFile(path) ? read(path, MAX_SETTINGS_BYTES) : null
  const isHead = head?.kind === 'text' && /^(?:ref: refs\/|[\da-f]{40}\n?$)/.test(head.bytes.toString('latin1'))
  return isHead && PARTS.every((name) => canEnter(join(common, name)))
}

/** Null: no text, so that the path in it is another than can be told here. */
const lineOf = (bytes: Buffer): string | null =>
  isUtf8(bytes) && !bytes.includes(NUL) ? bytes.toString('utf8').replace(/[\r\n]+$/, '') : null

function ownRuns({ dir, common, worktree }: Repository): string | null {
  // Which of several counts depends on more than is read here.
  const hooks = [join(common, 'hooks')]
  for (const path of [join(common, 'config'), join(dir, 'config.worktree')]) {
    const file = read(path, MAX_SETTINGS_BYTES)
    if (file === null) continue
    const settings = file.kind === 'text' ? settingsOf(file.bytes.toString('utf8')) : null
    if (settings === null) return 'Its settings cannot be read.'
    for (const { name, value } of settings) {
      // A submodule's settings name the folder that it was found by.
      if (name === 'core.worktree' && value !== null && physical(value, dir) === worktree) continue
      if (ELSEWHERE.test(name)) return `Its settings lie elsewhere as well (${name}).`
      if (PARTIAL.test(name)) return `It fetches what it misses (${name}).`
      if (PROGRAM.test(name) && !(name === 'core.fsmonitor' && value !== null && OWN.test(value)))
        return `Its settings make Git start a program (${name}).`
      if (name === 'extensions.objectformat' && value !== 'sha1') return 'Its index cannot be read.'
      if (name === 'diff.submodule' && (value === null || !SHORT_FORM.test(value)))
        return `Its settings make Git look into other repositories (${name}).`
      if (name !== 'core.hookspath') continue
      if (value === null || /^[~%]/.test(value)) return 'Its settings name hooks elsewhere (core.hookspath).'
      hooks.push(physical(value, worktree ?? dir))
    }
  }
  // The one hook of a command that only looks: it refreshes the index.
  return hooks.some((folder) => exists(join(folder, 'post-index-change')))
    ? 'It has a hook that runs when Git looks (post-index-change).'
    : null
}

/** Submodules, and any folder that the index takes for one: Git looks into each. Null: nobody can tell. */
function innerRepositories({ dir, worktree }: Repository): string[] | null {
  const index = read(join(dir, 'index'), MAX_INDEX_BYTES)
  if (index === null || worktree === null) return []
  return (index.kind === 'text' ? gitlinksOf(index.bytes) : null)?.map((path) => join(worktree, path)) ?? null
}

type Found = { kind: 'text'; bytes: Buffer } | { kind: 'folder' } | { kind: 'unreadable' }

/** Null: it is not there. Never waits: a pipe in a file's place is unreadable. */
function read(path: string, maxBytes: number): Found | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return exists(path) ? { kind: 'unreadable' } : null
  }
  try {
    const stats = fstatSync(fd)
    if (stats.isDirectory()) return { kind: 'folder' }
    if (!stats.isFile() || stats.size > maxBytes) return { kind: 'unreadable' }
    const bytes = Buffer.alloc(stats.size)
    return readSync(fd, bytes, 0, stats.size, 0) === stats.size ? { kind: 'text', bytes } : { kind: 'unreadable' }
  } catch {
    return { kind: 'unreadable' }
  } finally {
    closeSync(fd)
  }
}

/** What may not be looked at counts as there. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile()
  } catch {
    return false
  }
}

function canEnter(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
