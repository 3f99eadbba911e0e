import { expect, test } from 'vitest'
import { createSecret } from '../../../../../src/main/platform/index.ts'
import { underPinnedProvider } from '../../../../../src/main/workers/drivers/codex/pinned-provider.ts'
import type { RpcReply } from '../../../../../src/main/workers/drivers/shared/types.ts'
import type { RoutePlan } from '../../../../../src/main/workers/index.ts'

const CONFIG = { model_provider: 'openai', openai_base_url: 'http://127.0.0.1:9/v1', model: 'm' }
const route: RoutePlan = {
  argv: [],
  config: CONFIG,
  key: createSecret('the-route-id-0123456789'),
  envSet: {},
  envUnset: [],
}

async function under(pinned: string | null, of: RoutePlan | null = route) {
  const asked: string[] = []
  const reply: RpcReply =
    pinned === null
      ? { ok: false, code: -32_600, message: 'thread not found: t', data: undefined }
      : { ok: true, result: { thread: { id: 't', modelProvider: pinned } } }
  const calls = {
    ask: (method: string) => {
      asked.push(method)
      return Promise.resolve(reply)
    },
    read: () => Promise.reject(new Error('nothing else is read')),
  }
  const config = await underPinnedProvider({ calls, cfg: { route: of } }, CONFIG, 't', new AbortController().signal)
  return { config, asked }
}

test('PR-A81 a thread of Codex’s own Provider, and one that cannot be read, get the route as it is', async () => {
  expect((await under('openai')).config).toEqual(CONFIG)
  expect((await under(null)).config).toEqual(CONFIG)
})

test('PR-A81 a thread of the gateway’s gets the route under that name, with its key in the thread alone', async () => {
  expect((await under('wheelhouse-gateway')).config).toEqual({
    model: 'm',
    model_provider: 'wheelhouse-gateway',
    model_providers: {
      'wheelhouse-gateway': {
        name: 'Wheelhouse',
        base_url: 'http://127.0.0.1:9/v1',
        wire_api: 'responses',
        experimental_bearer_token: 'the-route-id-0123456789',
        requires_openai_auth: false,
        supports_websockets: false,
      },
    },
  })
})

test('PR-A81 a thread of a Provider of the person’s own takes no route; on their own login it is not even asked', async () => {
  await expect(under('mine')).rejects.toMatchObject({ code: 'model_profile_bypass', detail: 'mine' })
  expect((await under('mine', null)).asked).toEqual([])
})
