import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withCompileCache } from '../../support/compile-cache.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { openHost } from './crash-host.ts'
import { filesHolding } from './support.ts'

const SCRIPT = fileURLToPath(new URL('crash-script.ts', import.meta.url))
const LIMIT_MS = 60_000
const OLD = { name: 'old', baseUrl: 'https://one.example.com/v1', end: 'aa', refs: 1 }
const NEW = { name: 'new', baseUrl: 'https://two.example.com/v1', end: 'bb', refs: 1 }

/** The signal that ended the editing host. */
async function editAndDie(folder: string, failpoint: string): Promise<string | null> {
  const env = { ...withCompileCache(), WHEELHOUSE_FAILPOINT: `${failpoint}:kill` }
  const child = spawn(process.execPath, [SCRIPT, folder], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (_code, signal) => resolve(signal))
  })
}

/** What the next host shows. */
async function nextStart(folder: string): Promise<object> {
  await using host = await openHost(folder, createFakeFailpoints())
  const [row] = (await host.providers.catalog()).connections
  const refs = (await host.keys.refs()).length
  return { name: row?.name, baseUrl: row?.baseUrl, end: row?.credentialHint?.slice(-2), refs }
}

const POINTS = {
  'providers.before_stage': OLD,
  'providers.after_stage': OLD,
  'providers.before_commit': OLD,
  'providers.after_commit': NEW,
  'providers.before_cleanup': NEW,
  'providers.after_cleanup': NEW,
  // The first file that an edit writes is the staged key's.
  before_write: OLD,
  after_write: OLD,
  before_rename: OLD,
  after_rename: OLD,
  before_dirsync: OLD,
  after_dirsync: OLD,
}

for (const [point, expected] of Object.entries(POINTS)) {
  test(
    `PR-A11 a host killed at ${point} leaves one whole version and no orphaned key`,
    { timeout: LIMIT_MS },
    async () => {
      using dir = createTempDir()
      expect(await editAndDie(dir.path, point)).toBe('SIGKILL')
      expect(await nextStart(dir.path)).toEqual(expected)
      const stored = dir.at('providers', 'secrets', 'secrets.json')
      expect(filesHolding(dir.path, 'second-key-of-test')).toEqual(expected === NEW ? [stored] : [])
      expect(filesHolding(dir.path, 'first-key-of-test')).toEqual(expected === OLD ? [stored] : [])
    },
  )
}
