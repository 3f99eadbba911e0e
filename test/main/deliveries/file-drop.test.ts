import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createFileDrop, createNotificationDelivery } from '../../../src/main/deliveries/index.ts'
import type { ClaimedOperation } from '../../../src/main/runtime/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { artifactOf, operationOf } from './support.ts'

function dropInto(folder: string | null) {
  const drop = createFileDrop({ folderOf: () => folder })
  return (change: Partial<ClaimedOperation> = {}) => drop.execute(operationOf(change), new AbortController().signal)
}

test('an answer and a file stand in the folder, and a second attempt finds them there', async () => {
  using dir = createTempDir()
  const execute = dropInto(dir.path)
  const file = { kind: 'send_artifact' as const, id: `dlo_${'c'.repeat(32)}`, artifact: artifactOf('bytes') }
  for (let attempt = 1; attempt <= 2; attempt++) {
    expect(await execute({ attempt })).toEqual({ status: 'delivered' })
    expect(await execute({ ...file, attempt })).toEqual({ status: 'delivered' })
    expect(readdirSync(dir.path).sort()).toEqual(['answer-aaaaaaaaaaaa.md', 'report-cccccccccccc.txt'])
  }
  expect(readFileSync(dir.at('answer-aaaaaaaaaaaa.md'), 'utf8')).toBe('The answer.')
  expect(readFileSync(dir.at('report-cccccccccccc.txt'), 'utf8')).toBe('bytes')
})

test('what an attempt that died left behind is replaced', async () => {
  using dir = createTempDir()
  writeFileSync(dir.at(`.${operationOf().id}.part`), 'The ans')
  expect(await dropInto(dir.path)()).toEqual({ status: 'delivered' })
  expect(readdirSync(dir.path)).toEqual(['answer-aaaaaaaaaaaa.md'])
})

test("nobody's file is written over, and no link is followed", async () => {
  using dir = createTempDir()
  const taken = { status: 'failed', failureCode: 'file_drop_name_taken' }
  writeFileSync(dir.at('answer-aaaaaaaaaaaa.md'), 'mine')
  expect(await dropInto(dir.path)()).toEqual(taken)
  expect(readFileSync(dir.at('answer-aaaaaaaaaaaa.md'), 'utf8')).toBe('mine')
  symlinkSync(dir.at('elsewhere'), dir.at('answer-dddddddddddd.md'))
  expect(await dropInto(dir.path)({ id: `dlo_${'d'.repeat(32)}` })).toEqual(taken)
  expect(readdirSync(dir.path)).toHaveLength(2)
})

test('a name never leads out of the folder', async () => {
  using dir = createTempDir()
  const artifact = artifactOf('x', '../../.up/\u0001sh')
  expect(await dropInto(dir.path)({ kind: 'send_artifact', artifact })).toEqual({ status: 'delivered' })
  expect(readdirSync(dir.path)).toHaveLength(1)
})

test('a long name of wide letters fits what a file system takes', async () => {
  using dir = createTempDir()
  const artifact = artifactOf('x', `${'報'.repeat(82)}😀.txt`)
  expect(await dropInto(dir.path)({ kind: 'send_artifact', artifact })).toEqual({ status: 'delivered' })
  const [name = ''] = readdirSync(dir.path)
  expect([name.isWellFormed(), name.startsWith('報報'), name.endsWith('.txt')]).toEqual([true, true, true])
})

test('a folder that is away is waited for, and one that nobody chose any more is the end', async () => {
  using dir = createTempDir()
  expect(await dropInto(dir.at('gone'))()).toEqual({ status: 'sending', failureCode: 'file_drop_folder_missing' })
  expect(await dropInto(null)()).toEqual({ status: 'failed', failureCode: 'file_drop_unknown' })
})

test('a damaged copy of a file is not dropped', async () => {
  using dir = createTempDir()
  const artifact = { ...artifactOf('x'), open: () => Promise.reject(new Error('damaged')) }
  await expect(dropInto(dir.path)({ kind: 'send_artifact', artifact })).rejects.toThrow('damaged')
  expect(readdirSync(dir.path)).toEqual([])
})

test('a notification shows the beginning of an answer, once per tag', async () => {
  const shown: unknown[] = []
  const transport = createNotificationDelivery((notification) => {
    shown.push(notification)
    return 'shown'
  })
  const payload = 'ä'.repeat(500)
  expect(await transport.execute(operationOf({ payload }), new AbortController().signal)).toEqual({
    status: 'delivered',
  })
  expect(shown).toEqual([
    { tag: operationOf().idempotencyKey, title: 'Wheelhouse', body: `${'ä'.repeat(399)}…`, sessionId: null },
  ])
  expect(transport.isIdempotent(operationOf().target)).toBe(true)
})

test.each([
  ['quiet', { status: 'unsupported', failureCode: 'notification_quiet' }],
  ['unavailable', { status: 'failed', failureCode: 'notification_unavailable' }],
] as const)('a notification that is not shown (%s) is not called delivered', async (how, expected) => {
  const transport = createNotificationDelivery(() => how)
  expect(await transport.execute(operationOf(), new AbortController().signal)).toEqual(expected)
})
