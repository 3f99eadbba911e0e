import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withCompileCache } from '../../support/compile-cache.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeFailpoints } from '../../support/failpoints.ts'
import { openHost } from './crash-host.ts'
import { createFakeUpstream, filesHolding } from './support.ts'

const SCRIPT = fileURLToPath(new URL('crash-script.ts', import.meta.url))
const STREAMS = fileURLToPath(new URL('crash-streams-script.ts', import.meta.url))
const LIMIT_MS = 60_000
const OLD = { name: 'old', baseUrl: 'https://one.example.com/v1', end: 'aa', refs: 1 }
const NEW = { name: 'new', baseUrl: 'https://two.example.com/v1', end: 'bb', refs: 1 }

/** What a host of its own said, and the signal that ended it. */
async function runScript(
  script: string,
  args: readonly string[],
  more: Record<string, string>,
): Promise<{ signal: string | null; said: string }> {
  const env = { ...withCompileCache(), ...more }
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => void (said += chunk.toString('utf8')))
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (_code, signal) => resolve({ signal, said }))
  })
}

/** The signal that ended the editing host. */
async function editAndDie(folder: string, failpoint: string): Promise<string | null> {
  return (await runScript(SCRIPT, [folder], { WHEELHOUSE_FAILPOINT: `${failpoint}:kill` })).signal
}

/** What the next host shows. */
async function nextStart(folder: string): Promise<object> {
  await using host = await openHost(folder, createFakeFailpoints())
  const [row] = (await host.providers.catalog()).connections
  const refs = (await host.keys.refs()).length
  return { name: row?.name, baseUrl: row?.baseUrl, end: row?.credentialHint?.slice(-2), refs }
}

test(
  'a host killed during 50 streams: same port and route at the next start, served on, and what the history holds is known',
  { timeout: LIMIT_MS },
  async () => {
    using dir = createTempDir()
    await using upstream = await createFakeUpstream()
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: response.created\ndata: {"type":"response.created"}\n\n')
    })
    const { signal, said } = await runScript(STREAMS, [dir.path, upstream.url], {})
    expect(signal).toBe('SIGKILL')
    const { address, key } = JSON.parse(said)
    expect(upstream.requests).toHaveLength(50)
    await using host = await openHost(dir.path, createFakeFailpoints())
    upstream.answer((_request, response) => void response.end('{}'))
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'gpt-test', input: [] })
    const answer = await fetch(`${address}/responses`, { method: 'POST', headers, body })
    expect([answer.status, upstream.requests.length]).toEqual([200, 51])
    const other = {
      client: 'codex',
      preset: 'custom',
      name: 'b',
      baseUrl: `${upstream.url}/other`,
      authMode: 'none',
    } as const
    const { value } = await host.providers.saveConnection(other, null, 1, 'create')
    const connectionId = value.connections.find(({ name }) => name === 'b')?.id ?? ''
    const choice = { connectionId, modelId: 'gpt-test', effort: 'default' } as const
    const change = { sessionId: 'session-1', client: 'codex', choice, allowHistoryStrip: false } as const
    expect(host.providers.previewRuntime(change)).toEqual({ kind: 'refused', code: 'route_binding_incompatible' })
  },
)

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
