/** One life of a connection, with everything that it wrote, logged, showed, threw or handed over searched for its keys. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createDurableFile } from '../../../src/main/platform/durable-file.ts'
import { createFileStore } from '../../../src/main/providers/credentials/file-store.ts'
import type { RoutePlan } from '../../../src/main/providers/index.ts'
import { createMemoryCredentials } from '../../support/credentials.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'
import { formsOf, leaksIn } from '../../support/planted.ts'
import {
  addressIn,
  bind,
  create,
  createFakeUpstream,
  createWorld,
  customInput,
  errorOf,
  launch,
  routeKey,
  secret,
} from './support.ts'

/** With what JSON and percent-encoding write otherwise. */
const KEY = 'sk-planted"\\%/+=&<0123456789abcdefghijklmnop'
const ROTATED = 'sk-rotated"\\%/+=&<zyxwvutsrqponmlkjihgfedc'

test('every form of a secret is found, also inside of something longer', () => {
  for (const form of formsOf(KEY))
    expect(leaksIn(Buffer.concat([Buffer.from('x'), form, Buffer.from('y')]), KEY)).not.toEqual([])
  for (const pad of ['', 'a', 'ab', 'abc']) {
    expect(leaksIn(Buffer.from(`${pad}${KEY} and more`).toString('base64'), KEY)).not.toEqual([])
    expect(leaksIn(Buffer.from(`${pad}${KEY} and more`).toString('base64url'), KEY)).not.toEqual([])
  }
  expect(leaksIn(JSON.stringify({ a: JSON.stringify({ key: KEY }) }), KEY)).not.toEqual([])
  expect(leaksIn('nothing of the kind, and ••••mnop', KEY)).toEqual([])
})

test('PR-A50 a key that is used, echoed, changed and deleted stands nowhere but in the store and the header', async () => {
  await using world = await createWorld({ openStore: async () => createMemoryCredentials() })
  await using upstream = await createFakeUpstream()
  /** Said to a window, an agent, a log or a child. */
  const said: unknown[] = []
  const host = await world.open()
  const { providers } = host
  const { id } = await create(providers, customInput('a', upstream.url), KEY)
  const look = async (): Promise<number> => {
    const view = await providers.catalog()
    said.push(view)
    return view.revision
  }
  await look()
  said.push(await providers.discover(id, { force: true }, new AbortController().signal))
  said.push(await providers.testConnection({ savedId: id }, new AbortController().signal))

  const plan = await bind(host, launch(id))
  said.push(plan.argv, plan.config, plan.envSet, plan.envUnset, inspect(plan), providers.sessionRuntime('session-1'))
  said.push(world.environment, await errorOf(() => void JSON.stringify(plan)))

  const echoes = [KEY, ROTATED].flatMap((key) => [
    `you sent ${key}`,
    JSON.stringify({ error: { message: `Bearer ${key}` } }),
  ])
  for (const [index, echo] of echoes.entries()) {
    upstream.answer((_request, response) => {
      response.writeHead([401, 403, 429, 500][index % 4] ?? 500, { 'content-type': 'application/json' })
      // Cut in the middle of the key.
      const at = echo.indexOf('0123') > 0 ? echo.indexOf('0123') : Math.floor(echo.length / 2)
      response.write(echo.slice(0, at))
      setImmediate(() => response.end(echo.slice(at)))
    })
    said.push(await ask(plan))
    said.push(await errorOf(providers.testConnection({ savedId: id }, new AbortController().signal)))
    said.push(
      await providers.discover(id, { force: true }, new AbortController().signal).catch((error: unknown) => error),
    )
    said.push(providers.lastExchange('session-1'))
    if (index !== 1) continue
    const revision = await look()
    const input = customInput('a', upstream.url, { id })
    said.push(await providers.saveConnection(input, secret(ROTATED), revision, 'update'))
  }
  // Both keys were really in use.
  const sent = new Set(upstream.requests.map(({ authorization }) => authorization))
  expect(sent).toEqual(new Set([`Bearer ${KEY}`, `Bearer ${ROTATED}`]))
  said.push(await errorOf(providers.deleteConnection(id, await look())))
  await providers.unbindWorker('worker-1', { kind: 'gone' })
  said.push(await providers.deleteConnection(id, await look()))
  said.push(providers.notices(), world.log.entries)
  await host.stop()

  for (const key of [KEY, ROTATED]) {
    for (const text of said.flatMap(textsOf)) expect(leaksIn(text, key)).toEqual([])
    for (const [path, bytes] of filesIn(world.dir.path)) expect([path, leaksIn(bytes, key)]).toEqual([path, []])
  }
  for (const [path, bytes] of filesIn(world.dir.path))
    expect([path, leaksIn(bytes, routeKey(plan))]).toEqual([path, []])
})

test('the private file holds the key in its own entry, and no other file does', async () => {
  await using world = await createWorld()
  const dir = world.dir.at('providers', 'secrets')
  const files = createDurableFile({ ids: createFakeIds(9), failpoints: createFakeFailpoints() })
  await createFileStore({ dir, files, log: world.log }).set('provider:a:b', secret(KEY))
  const holding = filesIn(world.dir.path).filter(([, bytes]) => leaksIn(bytes, KEY).length > 0)
  expect(holding.map(([path]) => path)).toEqual([join(dir, 'secrets.json')])
})

async function ask(plan: RoutePlan): Promise<{ status: number; text: string; headers: string }> {
  const answer = await fetch(`${addressIn(plan)}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${routeKey(plan)}` },
    body: '{"model":"gpt-test","input":[]}',
  })
  return { status: answer.status, text: await answer.text(), headers: JSON.stringify([...answer.headers]) }
}

/** As a person, a log and a wire would print it. */
function textsOf(value: unknown): string[] {
  const shown = inspect(value, { depth: 20, maxArrayLength: null, maxStringLength: null })
  const error = value instanceof Error ? [value.message, String(value.stack), inspect(value.cause)] : []
  return [shown, JSON.stringify(value) ?? '', ...error]
}

function filesIn(folder: string): [path: string, bytes: Buffer][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path)])
}
