/**
 * Whether looking at a repository starts a program. `git status` and `git diff` run what the repository's own settings
 * name (a diff driver, a filter, a file monitor), and those may have come with a folder or been written by an agent.
 * The person's own settings, and the attributes that choose among them, are theirs. Synchronous and bounded, never
 * through a link of another kind than Git itself follows: the policy answers at once, and what cannot be read counts.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { gitlinksOf } from './git-index.ts'
import { settingsOf } from './git-settings.ts'

const MAX_SETTINGS_BYTES = 64 * 1024
const MAX_INDEX_BYTES = 8 * 1024 * 1024
const MAX_REPOSITORIES = 32

/** What a looking subcommand may start; `true` and `false` of `core.fsmonitor` are Git's own. */
const PROGRAM =
  /^(?:core\.(?:fsmonitor|pager|alternaterefscommand)|pager\..*|diff\.external|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|gpg\.(?:.*\.)?program)$/
/** A repository without all of its objects fetches what it misses, whoever looks: any way to its remote may be a program. */
const PARTIAL = /^(?:extensions\.partialclone|remote\..*\.promisor)$/
/** What makes other files the settings, or another folder the one that is looked at. */
const ELSEWHERE = /^(?:include\.path|includeif\..*\.path|core\.worktree)$/
const OWN = /^(?:true|false|yes|no|on|off|0|1|)$/i
const POINTER = 'gitdir: '

/** Why Git may start a program when it looks at what `folder` (absolute) is in; null: it starts none. */
export function gitRuns(folder: string): string | null {
  const open = [folder]
  const seen = new Set<string>()
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const found = findRepository(at)
    if (found === null || seen.has(found.dir)) continue
    seen.add(found.dir)
    if (seen.size > MAX_REPOSITORIES) return 'It holds more repositories than are looked at.'
    const why = ownRuns(found)
    if (why !== null) return why
    const inner = innerRepositories(found)
    if (inner === null) return 'Its index cannot be read.'
    open.push(...inner)
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

/** As Git looks for it: a `.git` in the folder or above it, or a folder that is a repository itself. */
function findRepository(folder: string): Repository | null {
  for (let at = folder; ; at = dirname(at)) {
    const dotGit = join(at, '.git')
    const pointed = read(dotGit, MAX_SETTINGS_BYTES)
    if (pointed?.kind === 'folder') return repositoryAt(dotGit, at)
    if (pointed?.kind === 'text') {
      const text = lineOf(pointed.bytes)
      if (text.startsWith(POINTER)) return repositoryAt(resolve(at, text.slice(POINTER.length)), at)
    }
    if (['HEAD', 'objects', 'refs'].every((name) => exists(join(at, name)))) return repositoryAt(at, null)
    if (dirname(at) === at) return null
  }
}

function repositoryAt(dir: string, worktree: string | null): Repository {
  const pointer = read(join(dir, 'commondir'), MAX_SETTINGS_BYTES)
  return { dir, common: pointer?.kind === 'text' ? resolve(dir, lineOf(pointer.bytes)) : dir, worktree }
}

const lineOf = (bytes: Buffer): string => bytes.toString('utf8').replace(/[\r\n]+$/, '')

function ownRuns({ dir, common, worktree }: Repository): string | null {
  let hooks = join(common, 'hooks')
  for (const path of [join(common, 'config'), join(dir, 'config.worktree')]) {
    const file = read(path, MAX_SETTINGS_BYTES)
    if (file === null) continue
    const settings = file.kind === 'text' ? settingsOf(file.bytes.toString('utf8')) : null
    if (settings === null) return 'Its settings cannot be read.'
    for (const { name, value } of settings) {
      // A submodule's settings name the folder that it was found by.
      if (name === 'core.worktree' && value !== null && resolve(dir, value) === worktree) continue
      if (ELSEWHERE.test(name)) return `Its settings lie elsewhere as well (${name}).`
      if (PARTIAL.test(name)) return `It fetches what it misses (${name}).`
      if (PROGRAM.test(name) && !(name === 'core.fsmonitor' && value !== null && OWN.test(value)))
        return `Its settings make Git start a program (${name}).`
      if (name === 'extensions.objectformat' && value !== 'sha1') return 'Its index cannot be read.'
      if (name !== 'core.hookspath') continue
      if (value === null || /^[~%]/.test(value)) return 'Its settings name hooks elsewhere (core.hookspath).'
      hooks = resolve(worktree ?? dir, value)
    }
  }
  // The one hook of a command that only looks: it refreshes the index.
  return exists(join(hooks, 'post-index-change')) ? 'It has a hook that runs when Git looks (post-index-change).' : null
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

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
