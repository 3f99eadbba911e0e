/** The MCP servers that a person set up, for all sessions or for those of one project. Secret values lie elsewhere. */
import { isAbsolute, normalize, relative } from 'node:path'
import type { McpScope, McpServerInput, McpServerView } from '../../../shared/mcp.ts'
import { AppError } from '../../../shared/errors.ts'
import { createSecret } from '../../platform/index.ts'
import type { Clock, Ids, Log, Secret, SecretRegistry, Store } from '../../platform/index.ts'
import { findProgram } from '../../workers/index.ts'
import { createMcpTable } from './table.ts'
import type { EnvEntry, McpRow } from './table.ts'
import type { McpServers, ResolvedServer, SecretStore } from './types.ts'

const MAX_SERVERS = 256

export interface McpServersDeps {
  clock: Clock
  ids: Ids
  log: Log
  store: Store
  /** A secret that was read is blanked in every log and message from then on. */
  secrets: SecretRegistry
  secretStore: SecretStore
}

export function createMcpServers(deps: McpServersDeps): McpServers {
  const { clock, ids, log, store, secretStore } = deps
  const table = createMcpTable(store)
  /** Slots that are filled and not named yet. */
  const staging = new Set<string>()

  function rowsFor(workDir: string): readonly McpRow[] {
    const byName = new Map<string, McpRow>()
    const rank = ({ scope }: McpRow): number => (scope.kind === 'person' ? 0 : 1 + scope.path.length)
    const applying = table.all().filter(({ scope }) => scope.kind === 'person' || isWithin(workDir, scope.path))
    // The narrowest project has the last word.
    for (const row of [...applying].sort((a, b) => rank(a) - rank(b))) byName.set(row.name, row)
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async function secretOf(ref: string): Promise<Secret | null> {
    const secret = await secretStore.get(ref)
    if (secret !== null) deps.secrets.add(secret, 'MCP server')
    return secret
  }

  /** Puts new secret values away, each in a slot of its own in `staged`, and answers what the row will name. */
  async function stage(
    id: string,
    input: McpServerInput,
    before: McpRow | null,
    staged: string[],
  ): Promise<readonly EnvEntry[]> {
    const env: EnvEntry[] = []
    for (const { name, value, secret } of input.env) {
      if (!secret) {
        if (value === null) throw invalid(`The variable ${name} has no value.`)
        env.push({ name, value })
      } else if (value === null) {
        env.push({ name, ref: keptRef(before, name) })
      } else {
        const ref = `mcp:${id}:${Buffer.from(ids.bytes(12)).toString('base64url')}`
        const kept = createSecret(value)
        deps.secrets.add(kept, 'MCP server')
        staged.push(ref)
        staging.add(ref)
        const { applied } = await secretStore.set(ref, kept)
        if (!applied) {
          throw new AppError('credential_store_failed', `The secret ${name} could not be stored. Nothing was changed.`)
        }
        env.push({ name, ref })
      }
    }
    return env
  }

  async function discard(refs: readonly string[]): Promise<void> {
    for (const ref of refs) {
      try {
        await secretStore.delete(ref)
      } catch (error) {
        log.warn('a secret of an MCP server could not be removed', { error })
      }
    }
  }

  function demandRev(id: string, expectedRev: number): McpRow | null {
    const row = table.get(id)
    if ((row?.rev ?? 0) === expectedRev) return row
    throw new AppError('config_conflict', 'This MCP server was changed meanwhile. Look at it again.', { detail: id })
  }

  async function upsert(input: McpServerInput, expectedRev: number): Promise<McpServerView> {
    checkInput(input)
    const id = input.id ?? ids.next()
    const before = demandRev(id, expectedRev)
    if (input.id !== undefined && before === null) throw unknown(input.id)
    const { scope, name, command, args, required, enabled } = input
    const staged: string[] = []
    try {
      const env = await stage(id, input, before, staged)
      const row: McpRow = { id, scope: normalScope(scope), name, command, args, env, required, enabled, rev: 0 }
      const saved = await store.writeTx(() => {
        const now = demandRev(id, expectedRev)
        const others = table.all().filter((other) => other.id !== id)
        if (others.some((other) => other.name === name && sameScope(other.scope, row.scope))) {
          throw new AppError('config_value_invalid', 'There is an MCP server of that name already.', { detail: name })
        }
        if (others.length >= MAX_SERVERS) throw invalid(`At most ${MAX_SERVERS} MCP servers can be set up.`)
        const next = { ...row, rev: (now?.rev ?? 0) + 1 }
        table.put(next, clock.nowMs())
        return next
      })
      const named = new Set(refsOf(saved))
      await discard(refsOf(before).filter((ref) => !named.has(ref)))
      return viewOf(saved)
    } catch (error) {
      await discard(staged)
      throw error
    } finally {
      for (const ref of staged) staging.delete(ref)
    }
  }

  async function ready(
    { id, name, command, args, env: entries, required, rev }: McpRow,
    env: Readonly<Record<string, string>>,
  ): Promise<ResolvedServer | null> {
    const program = await findProgram(command, env['PATH'])
    if (program === null) return null
    const secrets: Secret[] = []
    const own: Record<string, string> = {}
    for (const entry of entries) {
      if ('value' in entry) own[entry.name] = entry.value
      else {
        const secret = await secretOf(entry.ref)
        if (secret === null) continue
        secrets.push(secret)
        own[entry.name] = secret.reveal('local_key_file')
      }
    }
    return {
      server: { name, command: program, args, env: { ...env, ...own } },
      secrets,
      required,
      version: `${id}.${rev}`,
    }
  }

  return {
    list: (workDir) => (workDir === undefined ? table.all() : rowsFor(workDir)).map(viewOf),
    upsert,
    async delete(id, expectedRev) {
      const refs = await store.writeTx(() => {
        const row = demandRev(id, expectedRev)
        if (row === null) throw unknown(id)
        table.delete(id)
        return refsOf(row)
      })
      await discard(refs)
    },
    async sweep() {
      try {
        const refs = (await secretStore.refs()) ?? []
        const named = new Set(table.all().flatMap(refsOf))
        await discard(refs.filter((ref) => !named.has(ref) && !staging.has(ref)))
      } catch (error) {
        log.warn('the secrets of MCP servers could not be looked through', { error })
      }
    },
    offered: (workDir) =>
      rowsFor(workDir)
        .filter(({ enabled }) => enabled)
        .map(({ id, name, required, rev }) => ({ name, required, version: `${id}.${rev}` })),
    async resolve(workDir, names, env) {
      const wanted = new Set(names)
      const rows = rowsFor(workDir).filter(({ enabled, name }) => enabled && wanted.has(name))
      const found = await Promise.all(rows.map((row) => ready(row, env)))
      return {
        servers: found.filter((each) => each !== null),
        missing: [...wanted].filter((name) => !found.some((each) => each?.server.name === name)),
      }
    },
    async resolveInput(input, env) {
      checkInput(input)
      const before = input.id === undefined ? null : table.get(input.id)
      const program = await findProgram(input.command, env['PATH'])
      if (program === null) {
        throw new AppError('worker_not_found', `There is no program ${input.command} on this machine.`, {
          detail: input.command,
        })
      }
      const secrets: Secret[] = []
      const own: Record<string, string> = {}
      for (const { name, value, secret } of input.env) {
        if (!secret) own[name] = value ?? ''
        else {
          const kept = value === null ? await secretOf(keptRef(before, name)) : createSecret(value)
          if (kept === null) continue
          secrets.push(kept)
          own[name] = kept.reveal('local_key_file')
        }
      }
      return {
        server: { name: input.name, command: program, args: input.args, env: { ...env, ...own } },
        secrets,
        required: input.required,
        version: 'input',
      }
    },
  }
}

function checkInput({ scope, env, args }: McpServerInput): void {
  if (scope.kind === 'project' && !isAbsolute(scope.path)) throw invalid('The project is no absolute path.')
  if (new Set(env.map(({ name }) => name)).size !== env.length) throw invalid('A variable is named twice.')
  // Argument lists are seen by every user of the machine.
  const shown = args.join('\0')
  const leaks = env.some(({ value, secret }) => secret && value !== null && value !== '' && shown.includes(value))
  if (leaks) throw invalid('A secret stands among the arguments, where every user of this machine can read it.')
}

function keptRef(before: McpRow | null, name: string): string {
  const kept = before?.env.find((entry) => entry.name === name)
  if (kept !== undefined && 'ref' in kept) return kept.ref
  throw invalid(`The secret ${name} has no value yet.`)
}

function refsOf(row: McpRow | null): readonly string[] {
  return (row?.env ?? []).flatMap((entry) => ('ref' in entry ? [entry.ref] : []))
}

function viewOf({ env, ...row }: McpRow): McpServerView {
  return {
    ...row,
    args: [...row.args],
    env: env.map((entry) => ({ name: entry.name, value: 'value' in entry ? entry.value : null })),
  }
}

function normalScope(scope: McpScope): McpScope {
  return scope.kind === 'person' ? scope : { kind: 'project', path: withoutSlash(normalize(scope.path)) }
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function sameScope(a: McpScope, b: McpScope): boolean {
  return a.kind === 'person' ? b.kind === 'person' : b.kind === 'project' && a.path === b.path
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

function invalid(message: string): AppError {
  return new AppError('input_invalid', message)
}

function unknown(id: string): AppError {
  return new AppError('config_value_invalid', 'There is no such MCP server any more.', { detail: id })
}
