import { once } from 'node:events'
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { FrameConnection } from '../../../src/main/platform/types.ts'
import { startWebHost } from '../../../src/main/web/index.ts'
import type { WebHost } from '../../../src/main/web/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import type { FakeClock } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createFakeIds } from '../../support/ids.ts'
import { createMemoryLog } from '../../support/log.ts'

let dir: ReturnType<typeof createTempDir>
let host: WebHost
let clock: FakeClock
let attached: FrameConnection[]
let frames: unknown[]

const start = (options: { namespace?: number; key?: number; port?: number; fixed?: boolean } = {}): Promise<WebHost> =>
  startWebHost(
    {
      clock,
      ids: createFakeIds(options.namespace ?? 0),
      log: createMemoryLog(),
      installation: `installation-${options.key ?? 1}`,
      cookieKey: new Uint8Array(32).fill(options.key ?? 1),
      rendererDir: join(dir.path, 'renderer'),
      attach: (connection) => {
        attached.push(connection)
        connection.onFrame((frame) => frames.push(frame))
        connection.onBadFrame((error) => connection.send({ bad: error.code }))
        connection.send({ hello: true })
      },
    },
    { port: options.port ?? null, fixed: options.fixed ?? false },
  )

beforeEach(async () => {
  dir = createTempDir()
  mkdirSync(join(dir.path, 'renderer', 'assets'), { recursive: true })
  writeFileSync(join(dir.path, 'renderer', 'index.html'), '<!doctype html><title>Wheelhouse</title>')
  writeFileSync(join(dir.path, 'secret.html'), 'not yours')
  clock = createFakeClock(1_700_000_000_000)
  attached = []
  frames = []
  host = await start()
})

afterEach(async () => {
  await host.stop()
  dir[Symbol.dispose]()
})

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

function send(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string; port?: number } = {},
): Promise<Reply> {
  const port = options.port ?? host.port
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: options.method ?? 'GET',
        headers: { host: `127.0.0.1:${port}`, ...options.headers },
      },
      (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
      },
    )
    sent.on('error', reject)
    sent.end(options.body)
  })
}

const tokenOf = (url: string): string => new URL(url).hash.slice('#token='.length)
const exchange = (token: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send('/session', {
    method: 'POST',
    headers: { origin: `http://127.0.0.1:${host.port}`, ...headers },
    body: JSON.stringify({ token }),
  })

async function cookie(): Promise<string> {
  const reply = await exchange(tokenOf(host.newUrl()))
  return String(reply.headers['set-cookie']?.[0]).split(';', 1)[0]!
}

function upgrade(
  headers: Record<string, string>,
  port = host.port,
): Promise<{ status: number } | { socket: WebSocket }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/bridge`, { headers })
    socket.on('open', () => resolve({ socket }))
    socket.on('unexpected-response', (_request, response) => resolve({ status: response.statusCode ?? 0 }))
    socket.on('error', reject)
  })
}

test('DT-A23 the link lets its first opener in, who then has the bridge', async () => {
  const held = await cookie()
  const opened = await upgrade({ origin: `http://127.0.0.1:${host.port}`, cookie: held })
  expect(opened).toHaveProperty('socket')
  expect(attached).toHaveLength(1)
  if ('socket' in opened) opened.socket.terminate()
})

test('DT-A23 the cookie is HttpOnly, SameSite=Strict and names the installation, not the port', async () => {
  const reply = await exchange(tokenOf(host.newUrl()))
  expect(reply.status).toBe(204)
  expect(reply.headers['set-cookie']?.[0]).toMatch(
    /^wheelhouse-[0-9a-f]{12}=.+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=43200$/,
  )
})

test('DT-A23 a replayed exchange is refused', async () => {
  const token = tokenOf(host.newUrl())
  expect((await exchange(token)).status).toBe(204)
  const again = await exchange(token)
  expect([again.status, (JSON.parse(again.body) as { code: string }).code]).toEqual([401, 'unauthenticated'])
})

test('DT-A23 ten wrong tokens lock the exchange for 60 s, for right ones too', async () => {
  const right = tokenOf(host.newUrl())
  for (let n = 0; n < 10; n++) expect((await exchange(`wrong-${n}`)).status).toBe(401)
  expect((await exchange('wrong-10')).status).toBe(429)
  expect((await exchange(right)).status).toBe(429)
  await clock.advance(60_000)
  expect((await exchange(right)).status).toBe(204)
})

test('DT-A23 another page, no page and a rebinding name get nothing', async () => {
  const held = await cookie()
  const own = `http://127.0.0.1:${host.port}`
  expect(await upgrade({ origin: 'http://evil.example', cookie: held })).toEqual({ status: 403 })
  expect(await upgrade({ cookie: held })).toEqual({ status: 403 })
  expect(await upgrade({ origin: `http://127.0.0.1:${host.port + 1}`, cookie: held })).toEqual({ status: 403 })
  expect(await upgrade({ origin: own, cookie: held, host: `evil.example:${host.port}` })).toEqual({ status: 403 })
  expect((await send('/', { headers: { host: 'evil.example' } })).status).toBe(403)
  expect((await exchange(tokenOf(host.newUrl()), { origin: 'http://evil.example' })).status).toBe(403)
  expect(attached).toEqual([])
})

test('DT-A23 without a cookie, with a forged, an expired or another installation’s one: 401', async () => {
  const origin = `http://127.0.0.1:${host.port}`
  const held = await cookie()
  expect(await upgrade({ origin })).toEqual({ status: 401 })
  expect(await upgrade({ origin, cookie: `${held.slice(0, -2)}AA` })).toEqual({ status: 401 })
  const [name, value = ''] = held.split('=', 2)
  const stretched = value.replace(/^\d+/, '9999999999999')
  expect(await upgrade({ origin, cookie: `${name}=${stretched}` })).toEqual({ status: 401 })
  const other = await start({ key: 2, namespace: 2 })
  expect(await upgrade({ origin: `http://127.0.0.1:${other.port}`, cookie: held }, other.port)).toEqual({ status: 401 })
  await other.stop()
  clock.jumpWall(12 * 3_600_000 + 1)
  expect(await upgrade({ origin, cookie: held })).toEqual({ status: 401 })
})

test('a tunnel’s other port works, as long as the page has it too', async () => {
  const held = await cookie()
  const opened = await upgrade({ host: 'localhost:9999', origin: 'http://localhost:9999', cookie: held })
  expect(opened).toHaveProperty('socket')
  if ('socket' in opened) opened.socket.terminate()
})

test('a cookie counts after a restart of the host, on the same port', async () => {
  const held = await cookie()
  const { port } = host
  await host.stop()
  host = await start({ port, namespace: 3 })
  expect(host.port).toBe(port)
  const opened = await upgrade({ origin: `http://127.0.0.1:${port}`, cookie: held })
  expect(opened).toHaveProperty('socket')
  if ('socket' in opened) opened.socket.terminate()
})

test('a saved port that is taken gives way to a free one; one that was asked for is an error', async () => {
  const second = await start({ port: host.port, namespace: 4 })
  expect(second.port).not.toBe(host.port)
  await second.stop()
  await expect(start({ port: host.port, fixed: true })).rejects.toMatchObject({ code: 'port_taken' })
})

test('nothing outside the renderer’s folder can be named', async () => {
  for (const path of [
    '/../secret.html',
    '/..%2fsecret.html',
    '/%2e%2e/secret.html',
    '/assets/..%5c..%5csecret.html',
    '/%00',
    '/%',
  ]) {
    expect([path, (await send(path)).status]).toEqual([path, 404])
  }
  const page = await send('/')
  expect(page.body).toContain('<title>Wheelhouse</title>')
  expect(page.headers['content-security-policy']).not.toContain('unsafe')
})

/** A request as bytes, for targets that no client library would send. Answers its status; resolves once the host hung up. */
function sendRaw(target: string, headers: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: host.port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', reject)
    socket.on('end', () => {
      socket.destroy()
      resolve(Number(text.split(' ')[1]))
    })
    const own = `127.0.0.1:${host.port}`
    socket.write([`GET ${target} HTTP/1.1`, `Host: ${own}`, `Origin: http://${own}`, ...headers, '', ''].join('\r\n'))
  })
}

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${btoa('0123456789abcdef')}`,
]

test.each(['//[', 'http://[', '//', 'http://a:999999/', '*', 'http://evil.example/bridge', '//evil.example/bridge'])(
  'DT-A23 the target %s is refused, as a request and as an upgrade, and the host goes on',
  async (target) => {
    expect(await sendRaw(target, ['Connection: close'])).toBeOneOf([400, 404])
    expect(await sendRaw(target, UPGRADE)).toBe(404)
    expect((await send('/')).status).toBe(200)
  },
)

test('a refused upgrade is hung up on, even if its sender would keep the line', async () => {
  const socket = connect({ port: host.port, host: '127.0.0.1', allowHalfOpen: true })
  const ended = new Promise<void>((resolve) => socket.once('end', resolve))
  const broken = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => undefined).resume()
  socket.write([`GET /bridge HTTP/1.1`, `Host: 127.0.0.1:${host.port}`, ...UPGRADE, '', ''].join('\r\n'))
  await ended
  // The host's side is gone whole, so that a byte more is answered with a reset.
  const poke = setInterval(() => socket.write('x'), 20)
  await broken
  clearInterval(poke)
  expect(socket.destroyed).toBe(true)
})

test.runIf(process.platform === 'linux')('who hangs up in the middle of a file leaves none open', async () => {
  const path = join(dir.path, 'renderer', 'assets', 'large.js')
  writeFileSync(path, Buffer.alloc(32 * 1_048_576))
  const isOpen = (): boolean => readdirSync('/proc/self/fd').some((fd) => targetOf(`/proc/self/fd/${fd}`) === path)
  const socket = connect(host.port, '127.0.0.1')
  socket.write(`GET /assets/large.js HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\n\r\n`)
  await once(socket, 'data')
  expect(isOpen()).toBe(true)
  socket.destroy()
  await vi.waitUntil(() => !isOpen(), { timeout: 10_000 })
})

test('only GET, HEAD and the exchange are answered', async () => {
  expect((await send('/', { method: 'DELETE' })).status).toBe(405)
  expect(
    (
      await send('/session', {
        method: 'POST',
        headers: { origin: `http://127.0.0.1:${host.port}` },
        body: 'x'.repeat(5_000),
      })
    ).status,
  ).toBe(413)
})

test('DT-A24 a frame that is no JSON, binary or too large is told so, and the connection stays', async () => {
  const opened = await upgrade({ origin: `http://127.0.0.1:${host.port}`, cookie: await cookie() })
  if (!('socket' in opened)) throw new Error('refused')
  const { socket } = opened
  const told: string[] = []
  const done = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      told.push(data.toString())
      if (told.some((text) => text.includes('frame_too_large'))) resolve()
    })
  })
  socket.send('{nonsense')
  socket.send(Buffer.from([1, 2, 3]))
  socket.send(JSON.stringify({ x: 'y'.repeat(10 * 1_048_576) }))
  socket.send('{"fine":true}')
  await done
  await expect.poll(() => frames).toEqual([{ fine: true }])
  expect(told.filter((text) => text.includes('frame_malformed'))).toHaveLength(2)
  socket.terminate()
})

function targetOf(link: string): string | null {
  try {
    return readlinkSync(link)
  } catch {
    return null
  }
}
