import { afterEach, expect, test, vi } from 'vitest'
import { AppError } from '../../../src/shared/errors.ts'
import type { CliBridge } from '../../../src/main/cli/bridge.ts'
import { takeover } from '../../../src/main/cli/takeover.ts'
import { aCatalog, aConnection, WORK_ID } from '../../renderer/support/catalog.ts'

afterEach(() => vi.restoreAllMocks())

test('the status says where the requests of each agent go, and where they are refused', async () => {
  const row = { state: 'active', detail: null, warnings: [], configPath: '/c', enabled: true }
  const gateway = {
    listening: true,
    address: '127.0.0.1:38777',
    upstreams: { codex: WORK_ID, claude: null },
    takeovers: [
      { ...row, client: 'codex' },
      { ...row, client: 'claude' },
    ],
  }
  const catalog = aCatalog({ connections: [aConnection()] })
  const call = async (name: string): Promise<unknown> => (name === 'providers.list' ? catalog : gateway)
  let said = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((said += String(text)), true))
  await takeover(['status'])({ bridge: { call } } as unknown as CliBridge, new AbortController().signal)
  expect(said.split('\n')).toMatchObject([
    'gateway: 127.0.0.1:38777',
    'codex: active  /c',
    '  requests go to Work',
    'claude: active  /c',
    expect.stringContaining('its requests are refused'),
    '',
  ])
})

test('without Providers that can be read, a file is given back all the same', async () => {
  const row = { state: 'inactive', detail: null, warnings: [], configPath: '/c', enabled: false }
  const left = { ...row, client: 'claude', state: 'broken', enabled: true }
  const gateway = {
    listening: false,
    code: 'model_profiles_unavailable',
    upstreams: { codex: null, claude: null },
    takeovers: [{ ...row, client: 'codex' }, left],
  }
  const called: string[] = []
  const call = async (name: string): Promise<unknown> => {
    called.push(name)
    if (name === 'providers.list') throw new AppError('model_profiles_unavailable', 'x')
    return name === 'gateway.status' ? gateway : { gateway, durable: true }
  }
  let said = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((said += String(text)), true))
  const bridge = { bridge: { call } } as unknown as CliBridge
  await takeover(['disable', '--client', 'codex'])(bridge, new AbortController().signal)
  expect(called).toContain('gateway.disable')
  await takeover(['status'])(bridge, new AbortController().signal)
  const head = 'gateway: not listening (model_profiles_unavailable)'
  expect(said.split('\n')).toEqual([head, 'codex: inactive  /c', head, 'codex: inactive  /c', 'claude: broken  /c', ''])
})
