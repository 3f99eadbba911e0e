import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { serveIpc } from '../../../src/main/desktop/ipc.ts'
import type { IpcTransportDeps } from '../../../src/main/desktop/ipc.ts'
import type { FrameConnection } from '../../../src/main/platform/types.ts'
import { WIRE_LIMITS } from '../../../src/shared/bridge/index.ts'
import { createMemoryLog } from '../../support/log.ts'

const ORIGIN = 'app://wheelhouse'
type Handle = Parameters<IpcTransportDeps['ipcMain']['handle']>[1]
type Frame = { origin: string; parent: Frame | null } | null
const TOP: Frame = { origin: ORIGIN, parent: null }

class FakeContents extends EventEmitter {
  readonly sent: string[] = []
  destroyed = false
  send(_channel: string, text: string): void {
    this.sent.push(text)
  }
  isDestroyed(): boolean {
    return this.destroyed
  }
}

function setUp() {
  const ours = new FakeContents()
  const log = createMemoryLog()
  const attached: FrameConnection[] = []
  let handler: Handle = () => undefined
  serveIpc({
    ipcMain: {
      handle: (_channel, listener) => {
        handler = listener
      },
    },
    log,
    origin: ORIGIN,
    isOurs: (contents) => (contents as unknown) === ours,
    attach: (connection) => attached.push(connection),
  })
  const say = (raw: unknown, from: { sender?: FakeContents; frame?: Frame } = {}): unknown => {
    const event = { sender: from.sender ?? ours, senderFrame: from.frame === undefined ? TOP : from.frame }
    return handler(event as unknown as Parameters<Handle>[0], raw)
  }
  return { ours, log, attached, say }
}

describe('who may speak', () => {
  const parent: Frame = { origin: ORIGIN, parent: null }
  test.each([
    ['a subframe of the app’s own page', { frame: { origin: ORIGIN, parent } }],
    ['about:blank', { frame: { origin: 'null', parent: null } }],
    ['another origin', { frame: { origin: 'https://example.com', parent: null } }],
    ['an origin that begins alike', { frame: { origin: `${ORIGIN}.evil`, parent: null } }],
    ['a frame that is gone', { frame: null }],
    ['a window that the app did not make', { sender: new FakeContents() }],
  ])('DT-A25 %s is refused by code and logged, and nothing is attached', (_who, from) => {
    const { say, log, attached } = setUp()
    expect(say({ open: true }, from)).toMatchObject({ ok: false, error: { code: 'sender_refused' } })
    expect(log.entries).toMatchObject([{ level: 'warn', message: 'an IPC call was refused' }])
    expect(attached).toEqual([])
  })

  test('DT-A25 the top frame of a window of the app is served', () => {
    const { say, attached } = setUp()
    expect(say({ open: true })).toEqual({ ok: true })
    expect(attached).toHaveLength(1)
  })
})

describe('the line', () => {
  test.each([undefined, null, 'x', {}, { open: false }, { frame: 1 }, { frame: '{}', open: true }, { taken: -1 }])(
    'DT-A24 %j is no message of a preload: a typed error, and nothing happens',
    (raw) => {
      const { say, attached } = setUp()
      expect(say(raw)).toMatchObject({ ok: false, error: { code: 'frame_malformed' } })
      expect(attached).toEqual([])
    },
  )

  test('hands over frames, and tells of those that cannot be read', () => {
    const { say, attached } = setUp()
    say({ open: true })
    const frames: unknown[] = []
    const bad: string[] = []
    attached[0]?.onFrame((frame) => frames.push(frame))
    attached[0]?.onBadFrame((error) => bad.push(error.code))
    say({ frame: '{"id":1}' })
    say({ frame: '{"id":' })
    say({ frame: 'x'.repeat(WIRE_LIMITS.inputBytes + 65_537) })
    expect(frames).toEqual([{ id: 1 }])
    expect(bad).toEqual(['frame_malformed', 'frame_too_large'])
  })

  test('DT-A26 says when the page does not take what it is sent, and when it does again', () => {
    const { say, attached, ours } = setUp()
    say({ open: true })
    const [line] = attached
    let drained = 0
    line?.onDrain(() => drained++)
    const big = 'x'.repeat(WIRE_LIMITS.bufferedBytes)
    expect(line?.send({ a: 1 })).toBe(true)
    expect(line?.send({ big })).toBe(false)
    const sent = ours.sent.join('').length
    expect(line?.bufferedBytes()).toBe(sent)
    say({ taken: 10 })
    expect(drained).toBe(0)
    say({ taken: sent })
    expect(drained).toBe(1)
    expect(line?.bufferedBytes()).toBe(0)
  })

  test('a page cannot take more than it was sent', () => {
    const { say, attached } = setUp()
    say({ open: true })
    attached[0]?.send({ a: 1 })
    say({ taken: Number.MAX_SAFE_INTEGER })
    expect(attached[0]?.bufferedBytes()).toBe(0)
  })

  test.each(['destroyed', 'render-process-gone'])('ends when the window is %s', (event) => {
    const { say, attached, ours } = setUp()
    say({ open: true })
    let closed = 0
    attached[0]?.onClose(() => closed++)
    ours.emit(event)
    expect(closed).toBe(1)
  })

  test('a reload opens a new line and ends the one before', () => {
    const { say, attached } = setUp()
    say({ open: true })
    let closed = 0
    attached[0]?.onClose(() => closed++)
    say({ open: true })
    expect(closed).toBe(1)
    expect(attached).toHaveLength(2)
  })

  test('a window that is gone is sent nothing', () => {
    const { say, attached, ours } = setUp()
    say({ open: true })
    ours.destroyed = true
    expect(attached[0]?.send({ a: 1 })).toBe(true)
    expect(ours.sent).toEqual([])
  })
})
