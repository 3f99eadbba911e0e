import { createServer } from 'node:http'

let offset = 0

/** A port that nothing listens on, below those that the system hands out to who asks for any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + ((process.pid * 13 + offset++) % 12_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
    })
    if (!isFree) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
