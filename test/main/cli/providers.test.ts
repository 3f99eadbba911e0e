import { afterEach, expect, test, vi } from 'vitest'
import type { CliBridge } from '../../../src/main/cli/bridge.ts'
import { providers } from '../../../src/main/cli/providers.ts'
import { chooseRuntime } from '../../../src/main/cli/run-options.ts'
import { AppError } from '../../../src/shared/errors.ts'
import { aCatalog, aConnection, aModel, rehearsal, WORK_ID } from '../../renderer/support/catalog.ts'

const signal = new AbortController().signal
afterEach(() => vi.restoreAllMocks())

const good = aConnection({ client: 'builtin' })
const full = aCatalog({
  connections: [good, { ...rehearsal, name: 'Rehearsal' }],
  defaults: { builtin: { connectionId: rehearsal.id, modelId: 'rehearsal-1' } },
  models: { [WORK_ID]: [aModel('m-1'), aModel('m-2'), aModel('m-3', { enabled: false })] },
})

/** A host whose Provider "Work" refuses its key once it is asked. */
function aHost(): CliBridge {
  let catalog = full
  const call = async (name: string, input: { id?: string }): Promise<unknown> => {
    if (name === 'providers.list') return catalog
    if (input.id !== WORK_ID) return { modelCount: 1, latencyMs: 1 }
    const refusal = { code: 'model_profile_credential_not_ready', message: 'The Provider refuses this key.' }
    catalog = { ...full, connections: [{ ...good, refusal }, ...full.connections.slice(1)] }
    throw new AppError('model_profile_credential_not_ready', refusal.message)
  }
  return { bridge: { call } } as unknown as CliBridge
}

test('the Providers are listed, and a test of them says who does not answer and why', async () => {
  let said = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((said += String(text)), true))
  const cli = aHost()
  expect(await providers([])(cli, signal)).toBe(0)
  expect(said).toMatch(
    /^ready {8}builtin {2}Work {2}3 models\nready {8}builtin {2}Rehearsal {2}default: rehearsal-1\n$/,
  )
  said = ''
  expect(await providers(['test'])(cli, signal)).toBe(1)
  expect(said).toMatch(/^not working {2}builtin {2}Work {2}3 models\n {13}The Provider refuses this key\.\nready/)
})

test('without a model, a Provider that is not the default asks for one by name, unless it has but one', async () => {
  const { bridge } = aHost()
  const choose = (provider: string, model: string | null = null) =>
    chooseRuntime(bridge, { provider, model, agentId: 'builtin' })
  await expect(choose('work')).rejects.toThrow('Name a model of "Work" with --model. It has: m-1, m-2.')
  expect(await choose('work', 'm-2')).toMatchObject({ connectionId: WORK_ID, modelId: 'm-2' })
  expect(await choose('rehearsal')).toMatchObject({ connectionId: rehearsal.id, modelId: null })
})
