import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'
import { openApp } from './support/app.ts'
import type { OpenedApp } from './support/app.ts'
import { PATIENCE_MS } from './support/walk.ts'

const dir = createTempDir()
let app: OpenedApp
let evil: Server
let page: Page
let host: string

beforeAll(async () => {
  app = await openApp('browser', { home: dir.at('data') })
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
  dir[Symbol.dispose]()
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

test('DT-A23 the page that was let in works on', async () => {
  await app.page.reload()
  await app.page.getByRole('heading', { name: 'Welcome to Wheelhouse' }).waitFor({ timeout: PATIENCE_MS })
  const { sessions } = await app.call('sessions.list', {})
  expect(sessions).toEqual([])
})
