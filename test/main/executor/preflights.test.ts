import { renameSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPreflights } from '../../../src/main/executor/index.ts'
import type { AgentDefinition, Agents, Preflights } from '../../../src/main/executor/index.ts'
import type { Driver, Preflight, Workers } from '../../../src/main/workers/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeIds } from '../../support/ids.ts'

const CODEX = { id: 'codex', label: 'Codex', driver: 'codex', profile: null } as AgentDefinition
const RESULT: Preflight = { product: 'Codex', path: null, version: '1.0', checks: [], failed: null }

let dir: ReturnType<typeof createTempDir>
let preflights: Preflights
/** Each check that runs: what ends it, and whether it was told to give up. */
let checks: { signal: AbortSignal; end: () => void }[]

beforeEach(() => {
  dir = createTempDir()
  checks = []
  const driver = {
    preflight: (_request: unknown, signal: AbortSignal) =>
      new Promise<Preflight>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('told to')))
        checks.push({ signal, end: () => resolve(RESULT) })
      }),
  } as unknown as Driver
  const workers: Pick<Workers, 'driver' | 'privateDir'> = {
    driver: () => driver,
    privateDir: (workerId) => Promise.resolve(dir.at(workerId)),
  }
  const agents: Pick<Agents, 'list' | 'get'> = { list: () => [CODEX], get: () => CODEX }
  const hostEnv = (name: string): string | undefined => (name === 'PATH' ? dir.path : undefined)
  preflights = createPreflights({ ids: createFakeIds(), agents, workers, hostEnv, environment: Promise.resolve() })
})
afterEach(() => dir[Symbol.dispose]())

const begun = async (): Promise<void> => {
  while (checks.length === 0) await new Promise((resolve) => setImmediate(resolve))
}
const known = async (): Promise<boolean> => (await preflights.list())[0]?.preflight !== null

test('two who ask share one check, and one who leaves does not take it from the other', async () => {
  const leaving = new AbortController()
  const first = preflights.run('codex', leaving.signal)
  const second = preflights.run('codex', new AbortController().signal)
  await begun()
  leaving.abort()
  await expect(first).rejects.toMatchObject({ code: 'aborted' })
  expect([checks.length, checks[0]?.signal.aborted]).toEqual([1, false])
  checks[0]?.end()
  expect(await second).toEqual({ agent: CODEX, preflight: RESULT })
  expect(await known()).toBe(true)
})

test('it is given up when nobody waits for it any more, and the next one begins anew', async () => {
  const leaving = new AbortController()
  const asked = preflights.run('codex', leaving.signal)
  await begun()
  leaving.abort()
  await expect(asked).rejects.toMatchObject({ code: 'aborted' })
  expect(checks[0]?.signal.aborted).toBe(true)
  checks.shift()
  const again = preflights.run('codex', new AbortController().signal)
  await begun()
  checks[0]?.end()
  expect(await again).toMatchObject({ preflight: RESULT })
  await expect(preflights.run('codex', leaving.signal)).rejects.toMatchObject({ code: 'aborted' })
})

test('what it found holds as long as the program is the one that was looked at', async () => {
  const install = (): void => {
    writeFileSync(dir.at('new'), '#!/bin/sh\n', { mode: 0o700 })
    renameSync(dir.at('new'), dir.at('codex'))
  }
  await preflights.keep(CODEX, RESULT)
  expect(await known()).toBe(true)
  install()
  expect(await known()).toBe(false)
  await preflights.keep(CODEX, RESULT)
  expect(await known()).toBe(true)
  install()
  expect(await known()).toBe(false)
})
