/** Linux, with bubblewrap: what a confined Claude Code can and cannot do. */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { createAgents } from '../../src/main/executor/index.ts'
import { confinementOf } from '../../src/main/executor/confinement.ts'
import { createSystemClock } from '../../src/main/platform/index.ts'
import { createBubblewrapLauncher } from '../../src/main/workers/index.ts'
import type { AgentRig } from './agent-session.ts'
import { ROUTE_ID, allow, bash, createClaudeRig, prompt, say } from './claude-session.ts'
import { describeWithAgent } from './installed.ts'

const MCP_SERVER = fileURLToPath(new URL('mcp-server.mjs', import.meta.url))
vi.setConfig({ testTimeout: 300_000 })

/** As the executor confines it, for a session on a connection. */
async function confinement(rig: AgentRig) {
  const nothing = { command: '/bin/false', script: '', home: rig.dir }
  const agents = createAgents({
    own: { list: () => [], get: () => null },
    builtin: nothing,
    claudeHome: `${rig.home}/.claude`,
  })
  const stateDir = '/var/lib/of-wheelhouse'
  const sandbox = createBubblewrapLauncher({ clock: createSystemClock(), path: () => process.env['PATH'], stateDir })
  const choice = { connectionId: 'c', modelId: 'm', effort: 'default' as const }
  return confinementOf(sandbox, agents.get('claude'), { sandbox: 'workspace', roots: [rig.cwd], choice })
}

describeWithAgent('claude', 'the real Claude Code, confined', () => {
  test.runIf(process.platform === 'linux')(
    'WK-56 writes in the project alone, keeps its settings and other sessions out of reach, and is resumed',
    async () => {
      const wanted = [
        '$PWD/in',
        '/var/tmp/wh-out',
        '$HOME/.claude/settings.json',
        '$HOME/.claude/hooks.sh',
        '$HOME/.claude.json',
      ]
      const script = [
        ...wanted.map((path) => `echo x >> ${path} 2>/dev/null && echo wro''te ${path}`),
        'ls $HOME/.claude/shell-snapshots',
        'cat /proc/$PPID/fd/3',
      ].join('; ')
      await using rig = await createClaudeRig({
        turns: [
          { steps: [bash(script)] },
          { steps: [{ toolCall: { name: 'mcp__ours__poke', input: { how: 'well' } } }] },
          { steps: [say('Done.')] },
          { steps: [say('I remember.')] },
        ],
        decide: () => Promise.resolve(allow),
      })
      mkdirSync(`${rig.home}/.claude/shell-snapshots`, { recursive: true })
      writeFileSync(`${rig.home}/.claude/shell-snapshots/of-another-session.sh`, '')
      writeFileSync(`${rig.home}/.claude/settings.json`, '{}')
      writeFileSync(`${rig.home}/.claude.json`, '{}')
      const { launcher, confine } = await confinement(rig)
      if (launcher === null) throw new Error('not confined')
      const open = (load?: string) =>
        rig.open(load, (cfg) => ({
          ...cfg,
          launcher,
          env: { ...cfg.env, TMPDIR: cfg.privateDir },
          scope: { ...cfg.scope, confine },
          mcpServers: [{ name: 'ours', command: process.execPath, args: [MCP_SERVER], env: {} }],
        }))
      const session = await open()
      expect(await session.prompt(prompt('look round'))).toMatchObject({ stop: 'end_turn', refusals: [] })
      expect(rig.requests.map(({ kind }) => kind)).toEqual(['execute', 'other'])
      const said = JSON.stringify(rig.content)
      expect(said).toContain('poked well')
      expect(said.match(/wrote [^\\"]+/g)).toEqual([`wrote ${rig.cwd}/in`])
      expect(said).not.toContain('of-another-session')
      expect(said).not.toContain(ROUTE_ID)
      expect(await session.close({ closeStdinMs: 2_000, termGraceMs: 500 })).toMatchObject({ kind: 'gone', strays: [] })
      expect(existsSync('/var/tmp/wh-out')).toBe(false)
      expect(readFileSync(`${rig.home}/.claude/settings.json`, 'utf8')).toBe('{}')
      expect(readdirSync(`${rig.home}/.claude/shell-snapshots`)).toEqual(['of-another-session.sh'])

      const again = await open(session.id)
      await again.prompt(prompt('what was it?'))
      expect(rig.said()).toContain('I remember.')
      expect(JSON.stringify((await rig.upstream.requests()).at(-1)?.body)).toContain('look round')
    },
  )
})
