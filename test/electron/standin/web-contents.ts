import { EventEmitter } from 'node:events'
import type { Frame, Page } from 'playwright-core'
import { invokeHandler, ipcMain } from './ipc-main.ts'
import { note, preventable } from './record.ts'
import { originOf, realUrl } from './scheme.ts'

/** What the page's shim says: it invokes, sends, or waits for what main sends. */
export type FromPage =
  | { kind: 'invoke'; channel: string; args: unknown[] }
  | { kind: 'send'; channel: string; args: unknown[] }
  | { kind: 'pull'; first: boolean }

interface FrameMain {
  url: string
  origin: string
  parent: FrameMain | null
}

interface Sent {
  channel: string
  args: unknown[]
}

let ids = 0

export class WebContents extends EventEmitter {
  readonly id = ++ids
  page: Page | null = null
  gone = false
  #openHandler: ((details: { url: string }) => unknown) | null = null
  #queue: Sent[] = []
  #pull: ((sent: Sent[]) => void) | null = null

  isDestroyed(): boolean {
    return this.gone
  }
  getURL(): string {
    return this.page === null ? '' : realUrl(this.page.url())
  }
  setWindowOpenHandler(handler: (details: { url: string }) => unknown): void {
    this.#openHandler = handler
  }
  /** A page opened a window: main is asked, and whatever it says is written down. */
  windowOpened(url: string): void {
    note('window.open', url, this.#openHandler?.({ url }))
  }

  send(channel: string, ...args: unknown[]): void {
    note('webContents.send', channel)
    this.#queue.push({ channel, args: structuredClone(args) })
    this.#flush()
  }
  #flush(): void {
    if (this.#pull === null || this.#queue.length === 0) return
    const pull = this.#pull
    this.#pull = null
    pull(this.#queue.splice(0))
  }

  async receive(frame: Frame, message: FromPage): Promise<unknown> {
    if (message.kind === 'pull') {
      // A new document: what was sent to the one before is lost with it.
      if (message.first) this.#queue.length = 0
      this.#pull?.([])
      return new Promise((resolve) => {
        this.#pull = resolve
        this.#flush()
      })
    }
    const event = { sender: this, senderFrame: frameMain(frame), processId: 1, frameId: 1 }
    note(`ipcMain.${message.kind}`, message.channel)
    if (message.kind === 'invoke') return invokeHandler(message.channel, event, message.args)
    ipcMain.emit(message.channel, event, ...structuredClone(message.args))
    return undefined
  }

  /** Whether the app lets this frame go there. */
  mayNavigate(url: string, isMainFrame: boolean): boolean {
    const real = realUrl(url)
    const event = Object.assign(preventable(), { url: real, isMainFrame })
    this.emit('will-frame-navigate', event)
    if (isMainFrame) this.emit('will-navigate', event, real)
    note(isMainFrame ? 'will-navigate' : 'will-frame-navigate', real, event.defaultPrevented)
    return !event.defaultPrevented
  }

  destroyed(): void {
    if (this.gone) return
    this.gone = true
    this.#pull?.([])
    this.emit('destroyed')
  }
}

/** An empty frame inside of a page has its parent's origin; one at the top has none. */
function frameMain(frame: Frame): FrameMain {
  const above = frame.parentFrame()
  const parent = above === null ? null : frameMain(above)
  const url = realUrl(frame.url())
  const inherits = parent !== null && (url === '' || url.startsWith('about:'))
  return { url, parent, origin: inherits ? parent.origin : originOf(url) }
}
