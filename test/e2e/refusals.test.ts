import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import Database from 'better-sqlite3'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRouter, startUpstream } from '../main/providers/router/support.ts'
import { createTempDir } from '../support/dir.ts'
import { freePort } from '../support/port.ts'
import { openApp } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import { PATIENCE_MS } from './support/walk.ts'

const dir = createTempDir()
const CONFIG = dir.at('codex', 'config.toml')
const BEFORE = '# mine\nmodel = "gpt-5.2" # kept\n\n[mcp_servers.x]\ncommand = "y"\n'
let app: OpenedApp
let evil: Server
let provider: Server
let page: Page
let host: string
/** What reached the Provider that Router and gateway lead to. */
const reached: string[] = []

beforeAll(async () => {
  mkdirSync(dir.at('data'), { mode: 0o700 })
  mkdirSync(dir.at('codex'))
  writeFileSync(CONFIG, BEFORE)
  writeFileSync(dir.at('data', 'settings.json'), JSON.stringify({ gatewayPort: await freePort() }), { mode: 0o600 })
  provider = createServer((request, response) => {
    const n = reached.push(request.url ?? '')
    const usage = {
      input_tokens: 1_234_567 * n,
      input_tokens_details: { cached_tokens: 234_567 },
      output_tokens: 89_011 + n,
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: `r${n}`, data: [], usage }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  app = await openApp('browser', { home: dir.at('data'), env: { CODEX_HOME: dir.at('codex') } })
  await app.page.getByRole('heading', { name: 'Welcome to Wheelhouse' }).waitFor({ timeout: PATIENCE_MS })
  host = new URL(app.page.url()).host
  // Another page of the very browser that was let in: it has the cookie beside it.
  evil = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<title>evil</title>'),
  ).listen(0, '127.0.0.1')
  await once(evil, 'listening')
  page = await app.page.context().newPage()
  await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
})

afterAll(async () => {
  evil.close()
  await app.stop()
  provider.close()
  dir[Symbol.dispose]()
})

test('a page that was not let in is let in by the link that is put into its address', async () => {
  await app.page.context().clearCookies()
  const tab = await app.page.context().newPage()
  await tab.goto(`http://${host}/`)
  await tab.getByText('This browser is not let in yet').waitFor({ timeout: PATIENCE_MS })
  const { url } = await app.call('system.activate', { want: 'link' })
  await tab.goto(url ?? '')
  await tab.getByRole('heading', { name: 'Welcome to Wheelhouse' }).waitFor({ timeout: PATIENCE_MS })
  expect(tab.url()).not.toContain('token')
  await tab.close()
})

test('DT-A23 another port’s page gets no bridge, whatever name it calls the host by', async () => {
  const outcomes = await page.evaluate(
    (hosts) =>
      Promise.all(
        hosts.map(
          (each) =>
            new Promise<string>((resolve) => {
              const socket = new WebSocket(`ws://${each}/bridge`)
              socket.addEventListener('open', () => resolve('open'))
              socket.addEventListener('error', () => resolve('refused'))
            }),
        ),
      ),
    [host, host.replace('127.0.0.1', 'localhost'), host.replace('127.0.0.1', '[::1]')],
  )
  expect(new Set(outcomes)).toEqual(new Set(['refused']))
})

test('DT-A23 another port’s page reads nothing, exchanges nothing, and frames nothing', async () => {
  const read = await page.evaluate(async (base) => {
    const attempt = (run: Promise<Response>): Promise<string> =>
      run.then(
        (reply) => `${reply.type} ${reply.status}`,
        () => 'refused',
      )
    return Promise.all([
      attempt(fetch(`http://${base}/`, { credentials: 'include' })),
      attempt(fetch(`http://${base}/session`, { method: 'POST', credentials: 'include', body: '{"token":"guess"}' })),
      attempt(fetch(`http://${base}/session`, { method: 'POST', mode: 'no-cors', body: '{"token":"guess"}' })),
    ])
  }, host)
  // Not even an opaque answer: the host's resources are for its own pages.
  expect(new Set(read)).toEqual(new Set(['refused']))
  const framed = await page.evaluate((base) => {
    const frame = document.createElement('iframe')
    frame.src = `http://${base}/`
    document.body.append(frame)
    const titleOf = (): string => {
      try {
        return frame.contentDocument?.title ?? 'closed'
      } catch {
        return 'closed'
      }
    }
    return new Promise<string>((resolve) => frame.addEventListener('load', () => resolve(titleOf())))
  }, host)
  expect(framed).not.toBe('Wheelhouse')
})

describe('the gateway', () => {
  let address: string
  let key: string

  beforeAll(async () => {
    const { revision } = await app.call('providers.list', {})
    const { port } = provider.address() as AddressInfo
    const { connectionId } = await app.call('providers.upsert', {
      connection: { name: 'Mine', client: 'codex', preset: 'custom', baseUrl: `http://127.0.0.1:${port}/v1` },
      key: 'sk-a-key-that-no-page-may-see-0123456789',
      expectedRevision: revision,
    })
    await app.call('gateway.setUpstream', { client: 'codex', connectionId })
    await app.page.goto(new URL('/#/gateway', app.page.url()).href)
  })

  test('DT-A15 the exact change is shown, then written; an edit by hand is said, repaired, and taken back to the byte', async () => {
    const view = app.page
    const toggle = view.getByRole('switch', { name: 'Lead Codex to the gateway' })
    await toggle.click()
    const dialog = view.getByRole('dialog', { name: 'Lead Codex to the gateway?' })
    const change = await dialog.getByRole('figure').innerText()
    expect(change).toContain('openai_base_url')
    expect(change).not.toMatch(/whg_[\w-]{4}/)
    expect(readFileSync(CONFIG, 'utf8')).toBe(BEFORE)
    await dialog.getByRole('button', { name: 'Write it' }).click()
    await view.getByText('Active', { exact: true }).waitFor({ timeout: PATIENCE_MS })
    const written = readFileSync(CONFIG, 'utf8')
    const [, at = '', secret = ''] = /http:\/\/(127\.0\.0\.1:\d+)\/k\/(whg_[\w-]+)\/v1/.exec(written) ?? []
    ;[address, key] = [at, secret]

    writeFileSync(CONFIG, BEFORE)
    await view.getByText('What Wheelhouse wrote is no longer in the file.').waitFor({ timeout: PATIENCE_MS })
    await view.getByRole('button', { name: 'Repair: Codex' }).click()
    await view.getByRole('alertdialog').getByRole('button', { name: 'Repair' }).click()
    await view.getByText('Active', { exact: true }).waitFor({ timeout: PATIENCE_MS })
    expect(readFileSync(CONFIG, 'utf8')).toContain(`http://${address}/k/${key}/v1`)
  })

  test('DT-A17 a request is listed with where it went and what came of it, and nothing that it said', async () => {
    const sent = await send(address, `/k/${key}/v1/responses`, '{"model":"gpt-x","input":"what nobody may read"}')
    expect(sent).toBe(200)
    expect(reached).toEqual(['/v1/responses'])
    const row = app.page.getByRole('row', { name: /gpt-x/ })
    await row.waitFor({ timeout: PATIENCE_MS })
    const text = await row.innerText()
    for (const part of ['Codex', 'gateway', 'Mine', '200']) expect(text).toContain(part)
    expect(await app.page.content()).not.toMatch(/nobody may read|whg_|sk-a-key|\/k\//)
  })

  test('DT-A35 what is shown of usage is what the rows hold, to the token', async () => {
    expect(await send(address, `/k/${key}/v1/responses`, '{"model":"gpt-x"}')).toBe(200)
    // The answer may be here before the request is counted; whoever asks for the sum has it written.
    const counted = async () => (await app.call('usage.summary', { by: 'model' })).rows[0]?.requests
    await expect.poll(counted, { timeout: PATIENCE_MS }).toBe(2)
    await app.page.goto(new URL('/#/usage', app.page.url()).href)
    const figures = app.page.getByRole('row', { name: /^Total/ }).getByRole('cell')
    await figures.first().waitFor({ timeout: PATIENCE_MS })
    const store = new Database(dir.at('data', 'wheelhouse.db'), { readonly: true })
    const rows = store.prepare('SELECT input, cache_read, output FROM model_requests ORDER BY id').raw().all()
    store.close()
    expect(rows).toEqual([
      [1_000_000, 234_567, 89_012],
      [2_234_567, 234_567, 89_013],
    ])
    expect(await figures.allInnerTexts()).toEqual(['2', '0', '3,234,567', 'not said', '469,134', '178,025', '', ''])
    await app.page.goto(new URL('/#/gateway', app.page.url()).href)
  })

  test('PR-A42 another port’s page gets nothing from it, even with its key, and no request leaves', async () => {
    const before = reached.length
    const outcomes = await asAPage(address, { key, path: `/k/${key}` })
    expect(outcomes.filter((each) => each !== 'refused' && each !== 'nothing to read')).toEqual([])
    expect(reached).toHaveLength(before)
  })

  test.runIf(process.getuid?.() === 0 && process.platform === 'linux')(
    'PR-A42 another user of the machine gets nothing from it, even with its key, and no page of the browser host',
    async () => {
      const before = reached.length
      const targets = [
        `http://${address}/k/${key}/v1/responses`,
        `http://${address}/k/${key}/v1/models`,
        `http://${host}/bridge`,
        `http://${host}/session`,
      ]
      const said = await asAnotherUser(targets)
      expect(said.map(({ status }) => status).slice(0, 2)).toEqual([403, 403])
      expect(said.map(({ status }) => status).every((status) => status >= 400)).toBe(true)
      expect(JSON.stringify(said)).not.toMatch(/sk-a-key/)
      expect(reached).toHaveLength(before)
      // The same, asked by the person, is served.
      expect(await send(address, `/k/${key}/v1/responses`, '{"model":"gpt-x"}')).toBe(200)
    },
  )

  test('DT-A15 switched off, the file is as it was', async () => {
    await app.page.getByRole('switch', { name: 'Lead Codex to the gateway' }).click()
    await app.page.getByText('Active', { exact: true }).waitFor({ state: 'detached', timeout: PATIENCE_MS })
    expect(readFileSync(CONFIG, 'utf8')).toBe(BEFORE)
    await app.page.goto(new URL('/', app.page.url()).href)
  })
})

test('PR-A42 another port’s page gets nothing from the Router, even with a live route, and no request leaves', async () => {
  await using upstream = await startUpstream()
  await using router = await startRouter({ baseUrl: upstream.url })
  const { port, routeId } = router
  const outcomes = await asAPage(`127.0.0.1:${port}`, { key: routeId, path: `/r/${routeId}` })
  expect(outcomes.filter((each) => each !== 'refused' && each !== 'nothing to read')).toEqual([])
  expect(upstream.seen).toEqual([])
  // The same, asked by a program of the person's, is served.
  expect(await send(`127.0.0.1:${port}`, `/r/${routeId}/v1/responses`, '{"model":"model-a"}')).toBe(200)
})

test('DT-A23 the page that was let in works on', async () => {
  await app.page.reload()
  await app.page.getByRole('heading', { name: 'Welcome to Wheelhouse' }).waitFor({ timeout: PATIENCE_MS })
  const { sessions } = await app.call('sessions.list', {})
  expect(sessions).toEqual([])
})

/** What another port's page is told where it asks with all that a holder of the key would know, by each name of this machine. */
function asAPage(address: string, known: { key: string; path: string }): Promise<string[]> {
  return page.evaluate(
    async ({ at, key, path }) => {
      const attempt = (url: string, init: RequestInit = {}): Promise<string> =>
        fetch(url, init).then(
          (reply) => (reply.type === 'opaque' ? 'nothing to read' : `read ${reply.status}`),
          () => 'refused',
        )
      const upgrade = (url: string): Promise<string> =>
        new Promise((resolve) => {
          const socket = new WebSocket(url)
          socket.addEventListener('open', () => resolve('open'))
          socket.addEventListener('error', () => resolve('refused'))
        })
      const body = '{"model":"gpt-x","input":"by a page"}'
      // The last is a name of a stranger's that resolves to this machine.
      const names = ['127.0.0.1', 'localhost', 'rebound.localhost']
      return Promise.all(
        names.flatMap((name) => {
          const each = at.replace('127.0.0.1', name)
          return [
            attempt(`http://${each}${path}/v1/responses`, { method: 'POST', body }),
            attempt(`http://${each}${path}/v1/responses`, { method: 'POST', mode: 'no-cors', body }),
            attempt(`http://${each}/v1/responses`, { method: 'POST', headers: { 'x-api-key': key }, body }),
            attempt(`http://${each}${path}/v1/models`, { mode: 'no-cors' }),
            upgrade(`ws://${each}${path}/v1/responses`),
          ]
        }),
      )
    },
    { at: address, ...known },
  )
}

/** A request as a program makes it. Answers the status. */
function send(at: string, path: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`http://${at}${path}`, { method: 'POST', agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.setHeader('content-type', 'application/json')
    request.on('error', reject)
    request.end(body)
  })
}

const NOBODY = 65_534
/** Posts to each address in turn, and prints what it was told. */
const ASKER = `
const said = []
for (const url of process.argv.slice(1)) {
  const body = '{"model":"gpt-x"}'
  const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  said.push({ url, status: reply.status, text: await reply.text() })
}
console.log(JSON.stringify(said))
`

async function asAnotherUser(urls: readonly string[]): Promise<{ status: number; text: string }[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', ASKER, ...urls], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: unknown = JSON.parse(await textOf(child.stdout))
  return said as { status: number; text: string }[]
}
