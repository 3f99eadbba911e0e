import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createPlaces } from '../../../src/main/deliveries/index.ts'
import type { PlacesDeps } from '../../../src/main/deliveries/index.ts'
import { createDurableFile, createSecretRegistry } from '../../../src/main/platform/index.ts'
import { openSettings } from '../../../src/main/platform/settings.ts'
import { TargetInput } from '../../../src/shared/bridge/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import { createMemoryCredentials } from '../../support/credentials.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'
import { operationOf, startReceiver } from './support.ts'

const TOKEN = 'tok-0123456789-secret'
const PATH = '/services/T0000/B0000/a-long-key-in-the-path'
const signal = (): AbortSignal => new AbortController().signal

async function openPlaces(change: Partial<PlacesDeps> = {}) {
  const dir = createTempDir()
  const log = createMemoryLog()
  const ids = createFakeIds()
  const files = createDurableFile({ ids, failpoints: createFakeFailpoints() })
  const settings = await openSettings(dir.at('settings.json'), { files, log })
  const secrets = createSecretRegistry()
  const credentials = createMemoryCredentials()
  const places = createPlaces({
    clock: createFakeClock(),
    ids,
    log,
    settings,
    secrets,
    store: credentials,
    notify: () => null,
    titleOf: () => 'Work',
    namedBy: () => [],
    ...change,
  })
  return {
    places,
    settings,
    secrets,
    credentials,
    log,
    dir,
    save: (target: TargetInput, id: string | null = null) => places.save(id, TargetInput.parse(target)),
    file: () => (existsSync(dir.at('settings.json')) ? readFileSync(dir.at('settings.json'), 'utf8') : ''),
    async [Symbol.asyncDispose]() {
      await places.stop()
      dir[Symbol.dispose]()
    },
  }
}

test('the address and the token of a webhook stand in the credential store alone, and reach the receiver', async () => {
  await using receiver = await startReceiver()
  await using p = await openPlaces()
  const url = receiver.url.replace('/hook', PATH)
  const { id } = await p.save({ kind: 'webhook', name: 'Chat', url, token: TOKEN })
  expect(await p.places.test(id, signal())).toEqual({ delivered: true, failureCode: null })
  expect(receiver.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}` })
  const [view] = await p.places.views()
  expect(view).toMatchObject({ address: new URL(url).origin, hasToken: true, plaintext: false, unusable: null })
  const seen = p.file() + JSON.stringify(view) + JSON.stringify(p.log.entries)
  expect(seen).not.toContain(TOKEN)
  expect(seen).not.toContain(PATH)
  expect(p.secrets.redact(`sent to ${url} with ${TOKEN}`)).toBe('sent to [secret] with [secret]')
})

test('a place that is saved again without its secrets keeps them; a new token takes the place of the old one', async () => {
  await using receiver = await startReceiver()
  await using p = await openPlaces()
  const { id } = await p.save({ kind: 'webhook', name: 'Chat', url: receiver.url, token: TOKEN })
  await p.save({ kind: 'webhook', name: 'Renamed', idempotencyHeader: 'x-once' }, id)
  await p.places.test(id, signal())
  expect(receiver.seen[0]?.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'x-once': expect.stringMatching(/^test_/),
  })
  await p.save({ kind: 'webhook', name: 'Renamed', token: 'another-token' }, id)
  await p.places.test(id, signal())
  expect(receiver.seen[1]?.headers).toMatchObject({ authorization: 'Bearer another-token' })
  expect(p.credentials.snapshotRefs()).toEqual([`delivery:${id}:2`])
  await p.save({ kind: 'webhook', name: 'Renamed', token: null }, id)
  await p.places.test(id, signal())
  expect(receiver.seen[2]?.headers).not.toHaveProperty('authorization')
})

test('a token is not sent to another address than the one it was entered for', async () => {
  await using p = await openPlaces()
  const { id } = await p.save({ kind: 'webhook', name: 'Chat', url: 'https://one.invalid/a', token: TOKEN })
  const moved = { kind: 'webhook', name: 'Chat', url: 'https://two.invalid/a' } as const
  await expect(p.save(moved, id)).rejects.toMatchObject({ code: 'input_invalid' })
  expect(await p.save({ ...moved, token: null }, id)).toMatchObject({ origin: 'https://two.invalid', hasToken: false })
})

test.each([['ftp://example.invalid/'], ['https://user:pass@example.invalid/'], ['not an address']])(
  '%s is no address for a webhook, and nothing is kept',
  async (url) => {
    await using p = await openPlaces()
    await expect(p.save({ kind: 'webhook', name: 'Chat', url })).rejects.toMatchObject({ code: 'input_invalid' })
    expect([p.places.all(), p.credentials.snapshotRefs()]).toEqual([[], []])
  },
)

test('a locked credential store refuses a new place, and makes an attempt wait instead of failing', async () => {
  await using p = await openPlaces()
  const { id } = await p.save({ kind: 'webhook', name: 'Chat', url: 'https://one.invalid/a', token: TOKEN })
  p.credentials.setAvailable(false)
  await expect(p.save({ kind: 'webhook', name: 'Other', url: 'https://one.invalid/b' })).rejects.toMatchObject({
    code: 'credential_store_unavailable',
  })
  const [webhook] = p.places.port.transports
  const operation = operationOf({ target: { transport: 'webhook', targetId: id, context: {} } })
  expect(await webhook?.execute(operation, signal())).toEqual({
    status: 'sending',
    failureCode: 'credential_store_unavailable',
  })
})

test('a deleted place takes its secrets along, and a start sweeps what a crash left', async () => {
  await using p = await openPlaces()
  const { id } = await p.save({ kind: 'webhook', name: 'Chat', url: 'https://one.invalid/a', token: TOKEN })
  const kept = await p.save({ kind: 'webhook', name: 'Kept', url: 'https://one.invalid/b' })
  expect([await p.places.delete(id), await p.places.delete(id)]).toEqual([true, false])
  expect(p.credentials.snapshotRefs()).toEqual([`delivery:${kept.id}:1`])
  await p.settings.set('deliveryTargets', [])
  await p.places.sweep()
  expect(p.credentials.snapshotRefs()).toEqual([])
  await expect(p.places.test(id, signal())).rejects.toMatchObject({ code: 'delivery_target_not_found' })
})

test('a folder must be there when it is chosen, and says when it is gone', async () => {
  await using p = await openPlaces()
  const folder = p.dir.at('answers')
  await expect(p.save({ kind: 'file_drop', name: 'Folder', folder })).rejects.toMatchObject({ code: 'input_invalid' })
  await expect(p.save({ kind: 'file_drop', name: 'Folder', folder: '.' })).rejects.toMatchObject({
    code: 'input_invalid',
  })
  mkdirSync(folder)
  const { id } = await p.save({ kind: 'file_drop', name: 'Folder', folder })
  expect(await p.places.test(id, signal())).toEqual({ delivered: true, failureCode: null })
  expect(readdirSync(folder)).toHaveLength(1)
  await p.save({ kind: 'file_drop', name: 'Folder', folder: p.dir.path }, id)
  expect(await p.places.views()).toMatchObject([{ folder: p.dir.path, unusable: null }])
})

test('where no notification can be shown it is said, and none is planned', async () => {
  await using p = await openPlaces()
  const { id } = await p.save({ kind: 'os_notification', name: 'Me' })
  expect(await p.places.views()).toMatchObject([{ unusable: expect.stringContaining('No notification can be shown') }])
  expect(await p.places.test(id, signal())).toEqual({ delivered: false, failureCode: 'notification_unavailable' })
  expect(p.places.port.targets({ sessionId: 's1', source: 'desktop' })).toEqual([])
})

test('an answer goes where its run belongs: everywhere, to what takes unattended ones, or to what its schedule names', async () => {
  await using p = await openPlaces({
    namedBy: (sessionId) => (sessionId === 'bound' ? [named] : []),
    notify: () => () => 'shown',
  })
  let named = ''
  const folder = p.dir.path
  await p.save({ kind: 'os_notification', name: 'All' })
  await p.save({ kind: 'file_drop', name: 'Unattended', folder, runs: 'scheduled' })
  named = (await p.save({ kind: 'file_drop', name: 'Named', folder, runs: 'named' })).id
  await p.save({ kind: 'file_drop', name: 'Off', folder, enabled: false })
  const names = (sessionId: string, source: 'desktop' | 'cron'): string[] =>
    p.places.port.targets({ sessionId, source }).map(({ targetId }) => p.places.find(targetId).name)
  expect(names('s1', 'desktop')).toEqual(['All'])
  expect(names('s1', 'cron')).toEqual(['All', 'Unattended'])
  expect(names('bound', 'cron')).toEqual(['All', 'Unattended', 'Named'])
  expect(p.places.port.targets({ sessionId: 's1', source: 'desktop' })[0]?.context).toEqual({
    title: 'Work',
    sessionId: 's1',
  })
})

test('names are kept apart, kinds stay, and eight places are all there are', async () => {
  await using p = await openPlaces()
  const { id } = await p.save({ kind: 'os_notification', name: 'One' })
  await expect(p.save({ kind: 'os_notification', name: 'one' })).rejects.toMatchObject({ code: 'input_invalid' })
  await expect(p.save({ kind: 'file_drop', name: 'One', folder: p.dir.path }, id)).rejects.toMatchObject({
    code: 'input_invalid',
  })
  for (let n = 2; n <= 8; n++) await p.save({ kind: 'os_notification', name: `Place ${n}` })
  await expect(p.save({ kind: 'os_notification', name: 'Ninth' })).rejects.toMatchObject({ code: 'input_invalid' })
})
