import { existsSync, mkdirSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { createIds, createSecret } from '../../../src/main/platform/index.ts'
import { chooseSocketFolder } from '../../../src/main/workers/token/socket-folder.ts'
import { serveTokenAt } from '../../../src/main/workers/token/token-socket.ts'
import { LIMITS } from '../../../src/main/workers/index.ts'
import type { Handoff, ProcessIdentity, TokenSocket } from '../../../src/main/workers/index.ts'
import { createFakeClock } from '../../support/clock.ts'
import type { FakeClock } from '../../support/clock.ts'
import { createTempDir } from '../../support/dir.ts'
import { createMemoryLog } from '../../support/log.ts'
import { bridgeFor, TOKEN } from './bridge.ts'
import { acpFixture } from './drivers/acp-fixture.ts'
import { createHarness, failure, until } from './harness.ts'

const identity = (pid: number): ProcessIdentity => ({
  pid,
  pgid: pid,
  bootId: 'boot',
  startToken: String(pid),
  exact: true,
  startedAtMs: 0,
})
const WORKER = identity(1_000)

/** A socket of a token whose peers are proven to be whoever the test says. */
interface Bench extends AsyncDisposable {
  token: TokenSocket
  clock: FakeClock
  handoffs: Handoff[]
  /** Who the next peer is found to be; null: a stranger. */
  peer: ProcessIdentity | null
  living: Set<number>
  dial(): Promise<Peer>
}
interface Peer {
  socket: Socket
  /** Resolves with the next line, or null once the socket is closed. */
  line(): Promise<string | null>
}

async function bench(): Promise<Bench> {
  const dir = createTempDir()
  const clock = createFakeClock()
  const living = new Set<number>()
  const self: Pick<Bench, 'peer'> = { peer: identity(2_001) }
  const folder = await chooseSocketFolder(dir.path, [], createIds())
  const token = await serveTokenAt(
    {
      clock,
      log: createMemoryLog(),
      table: { lookup: (pid) => Promise.resolve(living.has(pid) ? identity(pid) : null) },
      peers: { prove: () => Promise.resolve(self.peer) },
    },
    createSecret(TOKEN),
    folder,
  )
  const handoffs: Handoff[] = []
  token.onHandoff((handoff) => handoffs.push(handoff))
  return Object.assign(self, {
    token,
    clock,
    handoffs,
    living,
    dial: () => dial(token.path),
    async [Symbol.asyncDispose]() {
      await token.close()
      dir[Symbol.dispose]()
    },
  })
}

async function dial(path: string): Promise<Peer> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return {
    socket,
    async line() {
      const next = await lines.next()
      return next.done === true ? null : next.value
    },
  }
}

/** Takes the token as the bridge does. Null: it was not given. */
async function take(b: Bench, pid: number): Promise<string | null> {
  b.peer = identity(pid)
  b.living.add(pid)
  const peer = await b.dial()
  const line = await peer.line()
  if (line !== null) peer.socket.write('{"taken":true}\n')
  return line
}

describe('the token of a worker', () => {
  test('WK-49 each start of the bridge gets it, five times, and the sixth gets nothing', async () => {
    await using b = await bench()
    b.token.arm(WORKER)
    for (let start = 1; start <= LIMITS.tokenHandoffs; start++) {
      expect(await take(b, 2_000 + start)).toBe(JSON.stringify({ token: TOKEN }))
      await until('it is delivered', () => b.token.taker?.pid === 2_000 + start)
      b.living.clear()
    }
    expect(await take(b, 2_100)).toBe(null)
    await until('it is spent', () => b.handoffs.length > LIMITS.tokenHandoffs)
    expect(b.handoffs).toEqual(['delivered', 'delivered', 'delivered', 'delivered', 'delivered', 'spent'])
    expect(existsSync(b.token.path)).toBe(false)
  })

  test('WK-49 while its taker lives, nobody else gets it', async () => {
    await using b = await bench()
    b.token.arm(WORKER)
    expect(await take(b, 2_001)).not.toBe(null)
    await until('it is delivered', () => b.token.taker !== null)
    expect(await take(b, 2_002)).toBe(null)
    expect(b.handoffs).toEqual(['delivered'])
    // Once it is gone, the next look at it lets the next one have it.
    b.living.delete(2_001)
    await b.clock.advance(LIMITS.takerPollMs[0])
    await until('the taker is forgotten', () => b.token.taker === null)
    expect(await take(b, 2_002)).not.toBe(null)
  })

  test('a peer that dies in the middle leaves it to the next one', async () => {
    await using b = await bench()
    b.token.arm(WORKER)
    const peer = await b.dial()
    expect(await peer.line()).toContain(TOKEN)
    peer.socket.destroy()
    await until('it was not delivered', () => b.handoffs.includes('undelivered'))
    expect(await take(b, 2_002)).not.toBe(null)
    await until('it is delivered', () => b.handoffs.includes('delivered'))
  })

  test('WK-50 who is not of the worker ends it for good', async () => {
    await using b = await bench()
    b.token.arm(WORKER)
    b.peer = null
    const peer = await b.dial()
    expect(await peer.line()).toBe(null)
    await until('it is refused', () => b.handoffs.length > 0)
    expect(b.handoffs).toEqual(['refused'])
    await until('the socket is gone', () => !existsSync(b.token.path))
  })

  test('WK-50 it expires when nobody comes for it', async () => {
    await using b = await bench()
    b.token.arm(WORKER)
    await b.clock.advance(LIMITS.tokenWindowMs - 1)
    expect(b.handoffs).toEqual([])
    await b.clock.advance(1)
    expect(b.handoffs).toEqual(['expired'])
    await using unarmed = await bench()
    await unarmed.clock.advance(LIMITS.tokenWindowMs * LIMITS.tokenStartWindows)
    expect(unarmed.handoffs).toEqual(['expired'])
  })

  test('before its worker is known, four may wait and are not answered', async () => {
    await using b = await bench()
    const peers = [await b.dial(), await b.dial(), await b.dial(), await b.dial()]
    const fifth = await b.dial()
    expect(await fifth.line()).toBe(null)
    b.token.arm(WORKER)
    b.living.add(2_001)
    expect(await peers[0]?.line()).toContain(TOKEN)
  })

  test('WK-50 a process of the same user that is not of the worker does not get it', async () => {
    await using h = createHarness(acpFixture, { scenario: 'ok' })
    await using bridge = await bridgeFor(h)
    await h.workers.open('acp', bridge.cfg, {}, new AbortController().signal)
    const peer = await dial(bridge.token.path)
    const { open } = JSON.parse((await peer.line()) ?? '{}') as { open: string }
    openSync(open, 'r')
    peer.socket.write('{"opened":true}\n')
    expect(await peer.line()).toBe(null)
    await until('it is refused', () => bridge.handoffs.length > 0)
    expect(bridge.handoffs).toEqual(['refused'])
    await until('nothing of it is left', () => !readdirSync(bridge.token.dir).some((name) => /^(?:t\.|n-)/.test(name)))
  })
})

describe('where a socket lies', () => {
  test('WK-51 a path of 103 bytes stays, one of 104 moves, and what fits nowhere is said', async () => {
    using dir = createTempDir()
    const ids = createIds()
    const folderOf = (socketBytes: number): string => dir.at('x').padEnd(socketBytes - '/t.sock'.length, 'x')
    const fits = folderOf(103)
    expect(await chooseSocketFolder(fits, [dir.path], ids)).toEqual({ dir: fits, path: `${fits}/t.sock`, made: null })
    expect(Buffer.byteLength(`${fits}/t.sock`)).toBe(103)
    const moved = await chooseSocketFolder(folderOf(104), [undefined, 'relative', dir.path], ids)
    expect(moved.dir).toMatch(/\/wh-[0-9a-f]{8}$/)
    expect(moved).toMatchObject({ made: moved.dir, path: `${moved.dir}/t.sock` })
    const long = dir.at('y'.repeat(100))
    await expect(chooseSocketFolder(long, [long], ids)).rejects.toMatchObject({ code: 'socket_path_too_long' })
  })

  test('WK-77 the moved folder is the one of the scope, and the token stands in no environment and no file', async () => {
    await using h = createHarness(acpFixture, { scenario: 'handshake-needs-token' })
    const long = `${h.dir}/workers/${'z'.repeat(90)}`
    mkdirSync(long, { mode: 0o700 })
    await using bridge = await bridgeFor(h, long)
    expect(bridge.token.dir).not.toBe(long)
    const wrong = { ...bridge.cfg, scope: { ...bridge.cfg.scope, socketDir: long } }
    await using second = await bridgeFor(h)
    const refused = h.workers.open('acp', { ...wrong, token: second.token }, {}, new AbortController().signal)
    expect(await failure(refused)).toMatchObject({ code: 'worker_unusable', started: 'never' })

    const session = await h.workers.open('acp', bridge.cfg, {}, new AbortController().signal)
    expect(bridge.handoffs).toEqual(['delivered'])
    const tree = await h.table.tree(session.process)
    const shown = (tree ?? []).flatMap(({ pid }) =>
      ['environ', 'cmdline'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8')),
    )
    // The agent, and the bridge that it started.
    expect(shown).toHaveLength(4)
    expect(shown.join('')).not.toContain(TOKEN)
    expect(filesBelow(h.dir).concat(filesBelow(bridge.token.dir)).join('')).not.toContain(TOKEN)
    await session.close({ closeStdinMs: 2_000, termGraceMs: 1_000 })
    await until('the folder is gone', () => !existsSync(bridge.token.dir))
  })
})

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1'))
}
