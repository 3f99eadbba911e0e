import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../../src/main/platform/clock.ts'
import { createFrameSocket } from '../../../src/main/platform/frame-socket.ts'
import type { FrameConnection } from '../../../src/main/platform/types.ts'
import type { AppError } from '../../../src/shared/errors.ts'
import { createTempDir } from '../../support/dir.ts'

const limits = { maxInBytes: 1_000, maxOutBytes: 3_000_000, highWaterBytes: 100_000 }
const clock = createSystemClock()

/** The connection under test, and the bare socket at its other end. */
async function connected(): Promise<{ connection: FrameConnection; peer: Socket }> {
  const dir = createTempDir()
  const server = createServer()
  server.listen(dir.at('s'))
  await once(server, 'listening')
  const peer = connect(dir.at('s'))
  const [socket] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    peer.destroy()
    socket.destroy()
    server.close()
    dir[Symbol.dispose]()
  })
  return { connection: createFrameSocket(socket, { clock, limits }), peer }
}

function frames(connection: FrameConnection, count: number): Promise<unknown[]> {
  const seen: unknown[] = []
  return new Promise((resolve) => {
    connection.onFrame((frame) => {
      seen.push(frame)
      if (seen.length === count) resolve(seen)
    })
  })
}

function closed(connection: FrameConnection): Promise<void> {
  return new Promise((resolve) => {
    connection.onClose(resolve)
  })
}

describe('a connection', () => {
  test('reads frames in order, also those from before it had a listener', async () => {
    const { connection, peer } = await connected()
    peer.write('1\n{"a":')
    await clock.sleep(5)
    const seen = frames(connection, 3)
    peer.write('"ü\\n"}\n3\n')
    expect(await seen).toEqual([1, { a: 'ü\n' }, 3])
  })

  test('writes one line for each frame', async () => {
    const { connection, peer } = await connected()
    expect(connection.send({ text: 'two\nlines' })).toBe(true)
    const [bytes] = (await once(peer, 'data')) as [Buffer]
    expect(bytes.toString()).toBe('{"text":"two\\nlines"}\n')
  })

  test('tells of what is no frame, or too long a one, and stays open', async () => {
    const { connection, peer } = await connected()
    const bad: AppError[] = []
    connection.onBadFrame((error) => bad.push(error))
    const seen = frames(connection, 1)
    peer.write(`nonsense\n"${'x'.repeat(2_000)}"\n7\n`)
    expect(await seen).toEqual([7])
    expect(bad.map(({ code }) => code)).toEqual(['frame_malformed', 'frame_too_large'])
  })

  test('sends no frame over its bound', async () => {
    const { connection } = await connected()
    expect(() => connection.send('x'.repeat(3_000_000))).toThrow('too long')
    expect(connection.bufferedBytes()).toBe(0)
  })

  test('answers false above the mark, and tells when the other side has taken everything', async () => {
    const { connection, peer } = await connected()
    let drained = 0
    const drain = new Promise<void>((resolve) => {
      const forget = connection.onDrain(() => {
        drained++
        forget()
        resolve()
      })
    })
    let sent = 0
    while (connection.send('x'.repeat(50_000))) sent++
    expect(connection.bufferedBytes()).toBeGreaterThan(limits.highWaterBytes)
    expect(sent).toBeLessThan(100)
    peer.resume()
    await drain
    expect(connection.bufferedBytes()).toBe(0)
    expect(drained).toBe(1)
  })

  test('closed by the other side is told to everybody who asked, and to who asks later', async () => {
    const { connection, peer } = await connected()
    connection.onFrame(() => undefined)
    const both = Promise.all([closed(connection), closed(connection)])
    peer.end()
    await both
    await closed(connection)
    expect(connection.send('late')).toBe(true)
  })

  test('close lets the other side read what was sent', async () => {
    const { connection, peer } = await connected()
    connection.send('x'.repeat(1_000_000))
    connection.close()
    connection.close()
    let bytes = 0
    peer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    await once(peer, 'end')
    expect(bytes).toBe(1_000_003)
    await closed(connection)
  })

  test('close does not wait for one who never reads', async () => {
    const { connection } = await connected()
    for (let index = 0; index < 4; index++) connection.send('x'.repeat(1_000_000))
    connection.close()
    await closed(connection)
    expect(connection.send('late')).toBe(true)
  })

  test('after close no further frame is handed on', async () => {
    const { connection, peer } = await connected()
    const seen: unknown[] = []
    connection.onFrame((frame) => {
      seen.push(frame)
      connection.close()
    })
    peer.write('1\n2\n3\n')
    await closed(connection)
    expect(seen).toEqual([1])
  })
})
