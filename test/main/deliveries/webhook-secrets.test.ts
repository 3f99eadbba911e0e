import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createWebhookSecrets } from '../../../src/main/deliveries/webhook-secrets.ts'
import { createSecret, createSecretRegistry } from '../../../src/main/platform/index.ts'
import { createMemoryCredentials } from '../../support/credentials.ts'
import { createMemoryLog } from '../../support/log.ts'

test('what somebody else wrote into the store is told apart, and not quoted', async () => {
  const store = createMemoryCredentials()
  await store.set('delivery:a:1', createSecret('tok-not-json-0123456789'))
  using secrets = openSecrets(store)
  const thrown = await secrets.get('delivery:a:1').catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 'credential_store_failed' })
  expect(inspect(thrown, { depth: 9 })).not.toContain('tok-not-json')
})

function openSecrets(store: ReturnType<typeof createMemoryCredentials>) {
  const webhooks = createWebhookSecrets({ store, secrets: createSecretRegistry(), log: createMemoryLog() })
  return { ...webhooks, [Symbol.dispose]: () => webhooks.dispose() }
}
