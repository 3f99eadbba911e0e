/** Opens 50 streams through a route, says where it is, and is killed while they all run. */
import { createSecret } from '../../../src/main/platform/index.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { openHost } from './crash-host.ts'
import { addressIn, bind, launch, routeKey } from './support.ts'

const [, , folder = '', baseUrl = ''] = process.argv
await using host = await openHost(folder, createFakeFailpoints())
const input = { client: 'codex', preset: 'custom', name: 'a', baseUrl } as const
const { value } = await host.providers.saveConnection(input, createSecret('first-key-of-test-aaaa'), 0, 'create')
const plan = await bind(host, launch(value.connections[0]?.id ?? ''))
const [address, key] = [addressIn(plan), routeKey(plan)]
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const body = JSON.stringify({ model: 'gpt-test', input: [] })
await Promise.all(
  Array.from({ length: 50 }, async () => {
    const answer = await fetch(`${address}/responses`, { method: 'POST', headers, body })
    await answer.body?.getReader().read()
  }),
)
process.stdout.write(JSON.stringify({ address, key }), () => process.kill(process.pid, 'SIGKILL'))
