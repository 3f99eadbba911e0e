/** Makes a connection in the folder, then edits it with the failpoints of the environment armed: one of them ends it. */
import { flushCompileCache } from 'node:module'
import { createFailpoints } from '../../../src/main/platform/failpoints.ts'
import { createSecret } from '../../../src/main/platform/index.ts'
import { openHost } from './crash-host.ts'

const [, , folder = ''] = process.argv
const failpoints = createFailpoints({ enabled: true, env: process.env })
let armed = false
await using host = await openHost(folder, { hit: (name) => (armed ? failpoints.hit(name) : undefined) })
const common = { client: 'codex', preset: 'custom' } as const
const old = { ...common, name: 'old', baseUrl: 'https://one.example.com/v1' }
const { value } = await host.providers.saveConnection(old, createSecret('first-key-of-test-aaaa'), 0, 'create')
flushCompileCache()
armed = true
const next = { ...common, id: value.connections[0]?.id ?? '', name: 'new', baseUrl: 'https://two.example.com/v1' }
await host.providers.saveConnection(next, createSecret('second-key-of-test-bbbb'), 1, 'update')
