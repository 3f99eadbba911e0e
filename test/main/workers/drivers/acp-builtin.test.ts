import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createSecret } from '../../../../src/main/platform/index.ts'
import { builtinProfile } from '../../../../src/main/workers/index.ts'
import type { RoutePlan } from '../../../../src/main/workers/index.ts'
import { createHarness, failure, prompt } from '../harness.ts'
import type { Harness, HarnessOptions } from '../harness.ts'
import { acpFixture } from './acp-fixture.ts'

const script = fileURLToPath(new URL('../../../../src/agent/index.ts', import.meta.url))
const KEY = 'whk-0123456789-abcdefghij'

function harness(more: Partial<HarnessOptions> = {}, route: RoutePlan | null = null): Harness {
  return createHarness(acpFixture, {
    scenario: '',
    ...more,
    change: (cfg) => ({
      ...cfg,
      route,
      profile: builtinProfile({ command: process.execPath, script, home: `${cfg.cwd}/../home` }),
    }),
  })
}

describe('the built-in agent as a worker', () => {
  test.each(['ask', 'read_only', 'anything'] as const)(
    'WK-01 it proves mode %s before the first prompt',
    async (mode) => {
      await using h = harness({ mode })
      const session = await h.open()
      expect(session.facts).toMatchObject({ mode, modeVerified: true, agentName: 'wheelhouse' })
      expect(session.refusalReason).toBe('in_answer')
      expect(await session.close({ closeStdinMs: 5_000 })).toMatchObject({ kind: 'gone', strongest: 'stdin' })
    },
  )

  test('a mode that it does not have is not replaced by another', async () => {
    await using h = harness({ mode: 'edits' })
    expect(await failure(h.open())).toMatchObject({ code: 'mode_unmapped', started: 'ended' })
  })

  test('what it can do is known once it was started', async () => {
    await using h = harness()
    const driver = h.workers.driver('acp')
    expect(driver.capabilities('builtin')).toMatchObject({ loadSession: true, forkSession: false })
    await h.open()
    expect(driver.capabilities('builtin')).toMatchObject({ loadSession: true, forkSession: true })
    expect(driver.capabilities('acp:other')).toMatchObject({ forkSession: false })
  })

  test('without a route it asks for one', async () => {
    await using h = harness()
    const session = await h.open()
    expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'login_required' })
  })

  test('WK-26 a conversation that it does not know is told as such', async () => {
    await using h = harness()
    const session = await h.open()
    await session.close({ closeStdinMs: 5_000 })
    await using other = harness()
    expect(await failure(other.open('01a2b3c4-no-such-conversation'))).toMatchObject({
      code: 'agent_session_not_found',
      started: 'ended',
    })
  })

  test('W-42 its key comes on descriptor 3, and stands in neither environment nor arguments', async () => {
    const keys: unknown[] = []
    const upstream = createServer((request, response) => {
      keys.push(request.headers['x-api-key'] ?? request.headers.authorization)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
    })
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
    const address = upstream.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const route: RoutePlan = {
      argv: [],
      config: {},
      key: createSecret(KEY),
      envSet: {
        WHEELHOUSE_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
        WHEELHOUSE_MODEL_PROTOCOL: 'messages',
        WHEELHOUSE_MODEL_ID: 'model-1',
      },
      envUnset: [],
    }
    await using h = harness({}, route)
    const session = await h.open()
    const seen = ['environ', 'cmdline'].map((name) => readFileSync(`/proc/${session.process.pid}/${name}`, 'latin1'))
    expect(seen.join('\n')).toContain('WHEELHOUSE_MODEL_KEY_FD=3')
    expect(seen.join('\n')).not.toContain(KEY)
    expect(await failure(session.prompt(prompt('hello')))).toMatchObject({ code: 'turn_failed' })
    expect(keys).toContain(KEY)
    await new Promise((resolve) => upstream.close(resolve))
  })
})
