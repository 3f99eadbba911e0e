/** What the command line agents keep of their own, on a machine where no takeover is on. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { connectInProcess } from '../../../src/main/bridge/index.ts'
import { createHost } from '../../../src/main/host.ts'
import type { Bridge } from '../../../src/shared/bridge/client.ts'
import { createTempDir } from '../../support/dir.ts'
import { freePort } from '../../support/port.ts'

// It starts a whole host six times.
vi.setConfig({ testTimeout: 180_000 })

const FILES = {
  '.codex/config.toml': '# mine\nmodel = "gpt-5.2" # kept\n\n[mcp_servers.x]\ncommand = "y"',
  '.codex/auth.json': '{"OPENAI_API_KEY":"sk-of-the-person"}',
  '.codex/history.jsonl': '{"text":"hello"}\n',
  '.codex/sessions/2026/11/30/rollout-1.jsonl': '{"type":"session_meta"}\n',
  '.claude/settings.json': '{\r\n\t"env": { "A": "1" }\r\n}',
  '.claude/.credentials.json': '{"claudeAiOauth":{"accessToken":"of-the-person"}}',
  '.claude/projects/-tmp-x/1.jsonl': '{"type":"user"}\n',
  '.claude.json': '{"projects":{}}',
} as const

/** Each file and folder below, with its bytes, its inode and its times. */
function factsOf(home: string): unknown[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { ino, mtimeNs, ctimeNs, mode } = statSync(path, { bigint: true })
      return { path, ino, mtimeNs, ctimeNs, mode, text: entry.isFile() ? readFileSync(path, 'utf8') : null }
    })
    .toSorted((one, other) => one.path.localeCompare(other.path))
}

test('five starts and stops leave every file of Codex and Claude Code as it is, to its inode and its times', async () => {
  using dir = createTempDir()
  const home = dir.at('home')
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  mkdirSync(dir.at('data'), { mode: 0o700 })
  const settings = JSON.stringify({ gatewayPort: await freePort() })
  writeFileSync(dir.at('data', 'settings.json'), settings, { mode: 0o600 })
  const before = factsOf(home)

  async function once(use: (bridge: Bridge) => Promise<unknown>): Promise<void> {
    const env = { HOME: home, PATH: '/usr/bin:/bin', DBUS_SESSION_BUS_ADDRESS: 'disabled:' }
    const host = await createHost({ dataDir: dir.at('data'), entryDir: '/nowhere', env })
    try {
      const bridge = connectInProcess(host.platform.clock, (connection) => host.attach(connection, 'cli'))
      await vi.waitUntil(() => bridge.status().kind === 'open', { timeout: 30_000 })
      await use(bridge)
      bridge.close()
    } finally {
      await host.stop()
    }
  }
  const look = async (bridge: Bridge): Promise<void> => {
    for (const client of ['codex', 'claude'] as const) {
      const { path, hunks } = await bridge.call('gateway.plan', { client })
      expect([dirname(dirname(path)), hunks.length > 0]).toEqual([home, true])
    }
    const { takeovers } = await bridge.call('gateway.status', {})
    expect(takeovers.map(({ state }) => state)).toEqual(['inactive', 'inactive'])
    await bridge.call('system.health', {})
    await bridge.call('agents.list', {})
  }
  for (let round = 0; round < 5; round++) {
    await once(look)
    expect(factsOf(home)).toEqual(before)
  }
  // A change would be seen.
  await once(async (bridge) => {
    const { digest } = await bridge.call('gateway.plan', { client: 'claude' })
    await bridge.call('gateway.enable', { client: 'claude', digest })
    expect(factsOf(home)).not.toEqual(before)
    await bridge.call('gateway.disable', { client: 'claude' })
  })
  expect(readFileSync(join(home, '.claude/settings.json'), 'utf8')).toBe(FILES['.claude/settings.json'])
})
