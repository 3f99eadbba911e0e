import { expect, test } from 'vitest'
import { createSecret } from '../../../../../src/main/platform/index.ts'
import {
  codexEffort,
  codexLaunch,
  effortOf,
  threadConfig,
} from '../../../../../src/main/workers/drivers/codex/launch.ts'
import type { RoutePlan } from '../../../../../src/main/workers/index.ts'

const route = (more: Partial<RoutePlan>): RoutePlan => ({ argv: [], config: {}, envSet: {}, envUnset: [], ...more })
const KEY = createSecret('route-id-of-a-test')

test("WK-47 of a route's settings only those of the process start stand in argv", () => {
  const launch = codexLaunch({
    mcp: 'with_users_own',
    route: route({
      argv: [
        '-c',
        'cli_auth_credentials_store="ephemeral"',
        '-c',
        'features.enable_request_compression=false',
        '-c',
        'model_catalog_json="/c.json"',
        '-c',
        'model="m-1"',
        '-c',
        'some.limit=3',
        '-c',
        'bare=word',
      ],
      config: { openai_base_url: 'http://127.0.0.1:1/v1' },
      key: KEY,
    }),
  })
  expect(launch.args).toEqual([
    '-c',
    'features.unbounded_connection_retries=false',
    '-c',
    'cli_auth_credentials_store="ephemeral"',
    '-c',
    'features.enable_request_compression=false',
    '-c',
    'model_catalog_json="/c.json"',
    'app-server',
  ])
  expect(launch.config).toEqual({
    model: 'm-1',
    'some.limit': 3,
    bare: 'word',
    openai_base_url: 'http://127.0.0.1:1/v1',
  })
})

test('WK-47 a flag that is no setting is refused', () => {
  for (const argv of [['--sandbox', 'x=1'], ['-c'], ['-c', 'no-value']]) {
    expect(() => codexLaunch({ mcp: 'exact', route: route({ argv }) })).toThrow(
      expect.objectContaining({ code: 'worker_unusable', started: 'never' }),
    )
  }
})

test("an agent's own login is started with the model and the effort alone", () => {
  expect(codexLaunch({ mcp: 'with_users_own', route: null, model: 'm', effort: 'off' })).toEqual({
    args: ['-c', 'features.unbounded_connection_retries=false', 'app-server'],
    config: { model: 'm', model_reasoning_effort: 'none' },
  })
  expect(codexLaunch({ mcp: 'with_users_own', route: null, effort: 'default' }).config).toEqual({})
})

test('PR-A72 a trusted folder is trusted by this process alone, under its exact name', () => {
  const cfg = { mcp: 'with_users_own', route: null, folderTrusted: true, cwd: '/a "b"' } as const
  expect(codexLaunch(cfg).args).toContain('projects={"/a \\"b\\""={trust_level="trusted"}}')
  expect(codexLaunch({ ...cfg, folderTrusted: false }).args.join(' ')).not.toContain('projects')
})

test("the shells' environment is the user's, without what the route set and with the mark", () => {
  const user = { shell_environment_policy: { exclude: ['THEIRS'], set: { A: '1' } } }
  const cfg = { workerId: 'w-1', mcp: 'with_users_own' as const, mcpServers: [] }
  expect(threadConfig({ ...cfg, route: route({ envSet: { NO_PROXY: 'x' } }) }, { model: 'm' }, user)).toEqual({
    model: 'm',
    shell_environment_policy: { set: { A: '1', WHEELHOUSE_WORKER: 'w-1' }, exclude: ['THEIRS', 'NO_PROXY'] },
  })
  expect(threadConfig({ ...cfg, route: null }, {}, {})).toEqual({
    shell_environment_policy: { set: { WHEELHOUSE_WORKER: 'w-1' } },
  })
})

test("exact switches off each of the user's servers by name", () => {
  const server = { name: 'ours', command: '/bin/ours', args: ['x'], env: { B: '2' } }
  const user = { mcp_servers: { theirs: {}, 'odd.name': {} } }
  const given = { workerId: 'w-1', route: null, mcpServers: [server] }
  const ours = {
    command: '/bin/ours',
    args: ['x'],
    env: { B: '2', WHEELHOUSE_WORKER: 'w-1' },
    required: true,
    enabled: true,
  }
  expect(threadConfig({ ...given, mcp: 'exact' }, {}, user)['mcp_servers']).toEqual({
    theirs: { enabled: false },
    'odd.name': { enabled: false },
    ours,
  })
  expect(threadConfig({ ...given, mcp: 'with_users_own' }, {}, user)['mcp_servers']).toEqual({ ours })
})

test('an effort is said in the words of Codex, and read back in ours', () => {
  expect([codexEffort('off'), codexEffort('xhigh'), codexEffort('default')]).toEqual(['none', 'xhigh', null])
  expect([effortOf('none'), effortOf('high'), effortOf('ultra'), effortOf(null)]).toEqual(['off', 'high', null, null])
})
