/** The least that a proxy in Node can do: `node pipe.ts UPSTREAM_PORT`. */
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

const agent = new Agent({ keepAlive: true, maxSockets: 512 })
const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  const onward = httpRequest(
    {
      agent,
      host: '127.0.0.1',
      port: Number(process.argv[2]),
      method: request.method,
      path: request.url,
      headers: request.headers,
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    },
  )
  onward.on('error', () => response.destroy())
  request.pipe(onward)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
