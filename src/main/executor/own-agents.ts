/** ACP agents that a person added by their command. One that is removed keeps its name, for the sessions that it has. */
import { z } from 'zod'
import { splitCommandLine } from '../../shared/command-line.ts'
import { AppError } from '../../shared/errors.ts'
import type { AgentId } from '../../shared/vocabulary.ts'
import type { Clock, Store } from '../platform/index.ts'
import { customProfile, findProgram, knownAgent, KNOWN_AGENTS } from '../workers/index.ts'
import type { AgentDefinition } from './agents.ts'

export interface AgentInput {
  label: string
  /** A program and its arguments, quoted as in a shell. */
  commandLine: string
  /** Names of variables that it is given from the host's environment. */
  passEnv: readonly string[]
}

export interface OwnAgents {
  list(): readonly AgentDefinition[]
  /** Removed ones too. */
  get(id: AgentId): AgentDefinition | null
  /** What it would be, under an id that is free. @throws AppError `input_invalid`. */
  define(input: AgentInput): AgentDefinition
  add(agent: AgentDefinition): Promise<void>
  /** @throws AppError `agent_unknown`. */
  remove(id: AgentId): Promise<void>
}

const MAX_AGENTS = 64
const Texts = z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text)))
const Row = z.object({
  id: z.custom<`acp:${string}`>((value) => typeof value === 'string' && value.startsWith('acp:')),
  label: z.string(),
  command: z.string(),
  args: Texts,
  pass_env: Texts,
  removed_at: z.number().nullable(),
})
type Row = z.infer<typeof Row>

export function createOwnAgents({ store, clock }: { store: Store; clock: Clock }): OwnAgents {
  const { db } = store
  const listSql = db.prepare('SELECT * FROM agents WHERE removed_at IS NULL ORDER BY created_at, rowid')
  const getSql = db.prepare('SELECT * FROM agents WHERE id = ?')
  const countSql = db.prepare('SELECT count(*) FROM agents WHERE removed_at IS NULL').pluck()
  const addSql = db.prepare(`
    INSERT INTO agents (id, label, command, args, pass_env, created_at) VALUES (@id, @label, @command, @args, @passEnv, @now)`)
  const removeSql = db.prepare('UPDATE agents SET removed_at = ? WHERE id = ? AND removed_at IS NULL')

  const isTaken = (id: string): boolean => getSql.get(id) !== undefined

  return {
    list: () => listSql.all().map((raw) => definitionOf(Row.parse(raw))),
    get(id) {
      const raw = getSql.get(id)
      return raw === undefined ? null : definitionOf(Row.parse(raw))
    },
    define({ label, commandLine, passEnv }) {
      const words = splitCommandLine(commandLine)
      if (words === null) {
        throw new AppError('input_invalid', 'This is no command: a quote is open, or there is no program in it.')
      }
      const [command, ...args] = words
      return definitionOf({
        id: freeId(label, isTaken),
        label,
        command,
        args,
        pass_env: [...passEnv],
        removed_at: null,
      })
    },
    async add({ id, label, profile }) {
      if (profile === null) return
      const { command, args, envNames } = profile
      await store.writeTx(() => {
        if (Number(countSql.get()) >= MAX_AGENTS) {
          throw new AppError('input_invalid', `At most ${MAX_AGENTS} agents can be added. Remove one first.`)
        }
        const now = clock.nowMs()
        addSql.run({ id, label, command, args: JSON.stringify(args), passEnv: JSON.stringify(envNames), now })
      })
    },
    async remove(id) {
      const { changes } = await store.writeTx(() => removeSql.run(clock.nowMs(), id))
      if (changes === 0) throw new AppError('agent_unknown', 'There is no such agent any more.', { detail: id })
    },
  }
}

/** Known agents whose program is on this PATH, and which the person has not added yet. */
export async function suggestedAgents(
  own: Pick<OwnAgents, 'list'>,
  path: string | undefined,
): Promise<Pick<AgentInput, 'label' | 'commandLine'>[]> {
  const added = new Set(own.list().map(({ profile }) => (profile === null ? null : knownAgent(profile))))
  const others = KNOWN_AGENTS.filter((agent) => !added.has(agent))
  const programs = await Promise.all(others.map(({ command }) => findProgram(command, path)))
  return others
    .filter((_, index) => programs[index] !== null)
    .map(({ label, command, args }) => ({ label, commandLine: [command, ...args].join(' ') }))
}

function definitionOf({ id, label, command, args, pass_env: envNames, removed_at: removedAt }: Row): AgentDefinition {
  const profile = customProfile({ id, product: label, command, args, env: {} })
  const known = profile.adapter === 'codex' || profile.adapter === 'claude' ? profile.adapter : null
  return {
    id,
    label,
    driver: 'acp',
    client: known,
    ...(known === null ? {} : { project: known }),
    form: 'acp_adapter',
    ownLogin: true,
    profile: { ...profile, envNames: [...new Set([...profile.envNames, ...envNames])] },
    ...(removedAt === null ? {} : { removed: true }),
  }
}

/** What the label is called on a command line; a number where that is taken. */
function freeId(label: string, isTaken: (id: string) => boolean): `acp:${string}` {
  const plain = label
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 56)
  const base = plain === '' ? 'agent' : plain
  for (let number = 1; ; number++) {
    const id: `acp:${string}` = number === 1 ? `acp:${base}` : `acp:${base}-${number}`
    if (!isTaken(id)) return id
  }
}
