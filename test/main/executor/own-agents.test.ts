import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAgents, createOwnAgents, executorMigrations, suggestedAgents } from '../../../src/main/executor/index.ts'
import type { OwnAgents } from '../../../src/main/executor/index.ts'
import { createSystemClock } from '../../../src/main/platform/index.ts'
import { runtimeMigrations } from '../../../src/main/runtime/index.ts'
import { AgentId } from '../../../src/shared/vocabulary.ts'
import { createTempDir } from '../../support/dir.ts'
import { openTestStore } from '../../support/store.ts'
import type { TestStore } from '../../support/store.ts'

const BUILTIN = { command: '/bin/false', script: '/nowhere/agent.js', home: '/nowhere' }

describe('agents that a person adds', () => {
  let store: TestStore
  let own: OwnAgents

  beforeEach(async () => {
    store = await openTestStore([...runtimeMigrations, ...executorMigrations])
    own = createOwnAgents({ store, clock: createSystemClock() })
  })
  afterEach(() => store[Symbol.dispose]())

  const add = async (label: string, commandLine = 'gemini --acp', passEnv: string[] = []): Promise<string> => {
    const agent = own.define({ label, commandLine, passEnv })
    await own.add(agent)
    return agent.id
  }

  test('are listed beside the others, under an id that their command line can name', async () => {
    expect(await add('Gemini CLI', 'gemini --acp "a b"', ['GEMINI_API_KEY'])).toBe('acp:gemini-cli')
    const agents = createAgents({ builtin: BUILTIN, claudeHome: '/nowhere/claude', own })
    expect(agents.list().map(({ id }) => id)).toContain('acp:gemini-cli')
    expect(agents.get('acp:gemini-cli')).toMatchObject({
      label: 'Gemini CLI',
      driver: 'acp',
      client: null,
      ownLogin: true,
      profile: { command: 'gemini', args: ['--acp', 'a b'], envNames: ['GEMINI_API_KEY'] },
    })
  })

  test('WK-74 a program that is known takes the connections of what it adapts', async () => {
    await add('Codex over ACP', 'codex-acp', ['MY_KEY'])
    await add('Claude over ACP', 'npx -y @agentclientprotocol/claude-agent-acp')
    expect(own.list()).toMatchObject([
      { client: 'codex', form: 'acp_adapter', profile: { adapter: 'codex', envNames: ['CODEX_HOME', 'MY_KEY'] } },
      { client: 'claude', form: 'acp_adapter', profile: { adapter: 'claude', envNames: ['CLAUDE_CONFIG_DIR'] } },
    ])
  })

  test.each(['Ünïcödé & more', '日本語', '---', 'x'.repeat(64)])('%s becomes an id', async (label) => {
    const ids = [await add(label), await add(label)]
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(AgentId.safeParse(id).success).toBe(true)
  })

  test('keep their name for their sessions when they are removed, and their id', async () => {
    const id = AgentId.parse(await add('Gemini'))
    await own.remove(id)
    const agents = createAgents({ builtin: BUILTIN, claudeHome: '/nowhere/claude', own })
    expect(agents.list().map((agent) => agent.id)).not.toContain(id)
    expect(agents.get(id)).toMatchObject({ label: 'Gemini', removed: true })
    expect(await add('Gemini')).toBe('acp:gemini-2')
    await expect(own.remove(id)).rejects.toMatchObject({ code: 'agent_unknown' })
  })

  test('are suggested where a known one is installed, until it is added', async () => {
    using dir = createTempDir()
    for (const program of ['gemini', 'codex-acp', 'other']) {
      writeFileSync(dir.at(program), '#!/bin/sh\n', { mode: 0o700 })
    }
    const suggested = () => suggestedAgents(own, dir.path)
    expect(await suggested()).toEqual([
      { label: 'codex-acp', commandLine: 'codex-acp' },
      { label: 'Gemini', commandLine: 'gemini --acp' },
    ])
    const gone = AgentId.parse(await add('Mine', 'npx -y @google/gemini-cli@0.61.0 --acp'))
    expect(await suggested()).toEqual([{ label: 'codex-acp', commandLine: 'codex-acp' }])
    await own.remove(gone)
    expect(await suggested()).toHaveLength(2)
    expect(await suggestedAgents(own, undefined)).toEqual([])
  })

  test('are refused where there is no program in the command', () => {
    expect(() => own.define({ label: 'a', commandLine: "'open", passEnv: [] })).toThrow('no command')
    const agents = createAgents({ builtin: BUILTIN, claudeHome: '/nowhere/claude', own })
    expect(() => agents.get('acp:other')).toThrow('There is no agent "acp:other"')
  })
})
