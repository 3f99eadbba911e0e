import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, createServer as createNetServer } from 'node:net'
import { expect, test } from 'vitest'
import { createUpstream, proxyFor } from '../../../../src/main/providers/upstream/index.ts'
import { codeOf, errorOf } from '../support.ts'

const at = (address: string): URL => new URL(address)

test('the setting decides, the system’s variables only where it says so, and loopback never leaves by one', () => {
  const environment = {
    HTTPS_PROXY: 'http://corp:3128',
    http_proxy: 'plain:8080',
    NO_PROXY: 'intern.example, .own.net:8443',
  }
  const of = (setting: string, address: string) => proxyFor(setting, environment, at(address))
  expect(of('none', 'https://api.example')).toBeNull()
  expect(of('http://mine:1', 'https://api.example')).toBe('http://mine:1')
  expect(of('system', 'https://api.example')).toBe('http://corp:3128')
  expect(of('system', 'http://api.example')).toBe('http://plain:8080')
  for (const local of ['http://127.0.0.1:9', 'https://localhost', 'http://[::1]:9', 'http://a.localhost']) {
    expect([of('system', local), of('http://mine:1', local)]).toEqual([null, null])
  }
  expect(of('system', 'https://intern.example')).toBeNull()
  expect(of('system', 'https://a.intern.example')).toBeNull()
  expect(of('system', 'https://notintern.example')).not.toBeNull()
  expect(of('system', 'https://a.own.net:8443')).toBeNull()
  expect(of('system', 'https://a.own.net')).not.toBeNull()
  expect(proxyFor('system', { NO_PROXY: '*', ALL_PROXY: 'http://a' }, at('https://b.example'))).toBeNull()
  expect(proxyFor('system', {}, at('https://b.example'))).toBeNull()
})

test('an exemption is a name, an address of either family or a network, with a port or without', () => {
  const exempts = (entry: string, address: string) =>
    proxyFor('system', { ALL_PROXY: 'http://corp', NO_PROXY: `a.example,${entry}` }, at(address)) === null
  expect(exempts('2001:db8::7', 'https://[2001:db8::7]/v1')).toBe(true)
  expect(exempts('[2001:db8::7]', 'https://[2001:db8::7]:8443/')).toBe(true)
  expect(exempts('[2001:db8::7]:8443', 'https://[2001:db8::7]:8443/')).toBe(true)
  expect(exempts('[2001:db8::7]:8443', 'https://[2001:db8::7]/')).toBe(false)
  expect(exempts('2001:db8::8', 'https://[2001:db8::7]/')).toBe(false)
  expect(exempts('10.0.0.0/8', 'http://10.9.8.7:8080')).toBe(true)
  expect(exempts('10.0.0.0/8', 'http://11.9.8.7')).toBe(false)
  expect(exempts('10.0.0.0/99', 'http://10.9.8.7')).toBe(false)
  expect(exempts('fd00::/8', 'http://[fd12::1]')).toBe(true)
  expect(exempts('intern.example.', 'https://models.intern.example')).toBe(true)
  expect(exempts('intern.example', 'https://models.intern.example./')).toBe(true)
  expect(exempts('*.intern.example:443', 'https://models.intern.example')).toBe(true)
})

test('a proxy that takes the connection and says nothing is one that cannot be reached in time', async () => {
  const silent = createNetServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const uri = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const upstream = createUpstream({ proxyFor: () => uri, connectMs: 200 })
  try {
    const request = {
      url: at('https://models.example/v1/models'),
      auth: { mode: 'none', key: null },
      timeoutMs: 60_000,
      maxBytes: 1_000,
    } as const
    const code = await codeOf(upstream.getJson(request, new AbortController().signal))
    expect(['upstream_timeout', 'upstream_unreachable']).toContain(code)
  } finally {
    await upstream.close()
    silent.close()
  }
})

test('a proxy of another kind is said, not passed by', async () => {
  const ask = () => proxyFor('system', { ALL_PROXY: 'socks5://corp:1080' }, at('https://api.example'))
  expect(await codeOf(() => void ask())).toBe('upstream_invalid')
})

/** An http proxy that leads every name to one port. */
async function startProxy(port: number) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
    const { pathname, search } = new URL(request.url ?? '')
    const { method, headers } = request
    const onward = httpRequest({ host: '127.0.0.1', port, method, headers, path: pathname + search }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url ?? ''}`)
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket)
      socket.pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    asked,
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a request goes through the proxy with its key and body, and a change counts from the next request on', async () => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(`${request.headers.host ?? ''} ${request.url ?? ''} ${Buffer.concat(chunks).toString()}`)
      response.end('{"ok":true}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await using proxy = await startProxy(port)
  let setting = proxy.uri
  const upstream = createUpstream({
    proxyFor: (url) => proxyFor(setting, {}, url),
    resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    hintFor: () => 'Try the proxy.',
  })
  try {
    const send = async (url: string) => {
      const request = {
        url: at(url),
        method: 'POST' as const,
        headers: {},
        body: [Buffer.from('hi')],
        auth: { mode: 'none' as const, key: null },
      }
      const answer = await upstream.send(request, new AbortController().signal)
      answer.body.resume()
      return answer.status
    }
    expect(await send('http://models.example/v1/responses?a=1')).toBe(200)
    expect(seen).toEqual(['models.example /v1/responses?a=1 hi'])
    expect(proxy.asked).toHaveLength(1)
    expect(await send(`http://127.0.0.1:${port}/direct`)).toBe(200)
    expect(proxy.asked).toHaveLength(1)
    // What a literal says is judged all the same.
    expect(await codeOf(send('http://169.254.169.254/latest'))).toBe('upstream_address_blocked')
    setting = 'none'
    // The name leads to loopback: directly, that is refused.
    expect(await codeOf(send('http://models.example/'))).toBe('upstream_address_blocked')
    expect((await errorOf(send('http://127.0.0.1:9/')))?.message).toContain('Try the proxy.')
  } finally {
    await upstream.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
