import { EventEmitter } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeChromium } from './chromium.ts'
import { calls, note, preventable } from './record.ts'

/** Only what a window tells the app, so that the two modules do not import each other. */
export interface AppWindow {
  close(): void
}

class App extends EventEmitter {
  readonly isPackaged = process.env['STANDIN_PACKAGED'] === '1'
  readonly name = 'standin'
  readonly windows = new Set<AppWindow>()
  #ready = Promise.withResolvers<void>()
  #isReady = false
  #quitting = false
  #paths = new Map<string, string>()

  isReady(): boolean {
    return this.#isReady
  }
  whenReady(): Promise<void> {
    return this.#ready.promise
  }
  becomeReady(): void {
    this.#isReady = true
    this.emit('ready', {}, {})
    this.#ready.resolve()
  }
  mustBeReady(what: string): void {
    if (!this.#isReady) throw new Error(`${what} before app is ready`)
  }
  mustNotBeReady(what: string): void {
    if (this.#isReady) throw new Error(`${what} should be called before app is ready`)
  }

  getPath(name: string): string {
    const known = this.#paths.get(name)
    if (known !== undefined) return known
    const made = name === 'userData' ? mkdtempSync(join(tmpdir(), 'standin-')) : join(this.getPath('userData'), name)
    this.#paths.set(name, made)
    return made
  }
  setPath(name: string, path: string): void {
    note('app.setPath', name, path)
    this.#paths.set(name, path)
  }
  setAppUserModelId(id: string): void {
    note('app.setAppUserModelId', id)
  }

  quit(): void {
    note('app.quit')
    if (this.#quitting) return
    const event = preventable()
    this.emit('before-quit', event)
    if (event.defaultPrevented) return
    for (const window of this.windows) window.close()
    if (this.windows.size > 0) return
    this.#quitting = true
    this.emit('will-quit', preventable())
    this.emit('quit', {}, 0)
    this.#leave(0)
  }
  /** As in Electron: at once, without `before-quit`. */
  exit(code = 0): void {
    note('app.exit', code)
    this.#leave(code)
  }
  #leave(code: number): void {
    void closeChromium()
      .then(() => farewell())
      .finally(() => process.exit(code))
  }
}

/** The last word to the test: what was asked of dialogs and of the system, which nobody can ask for afterwards. */
function farewell(): Promise<void> {
  const value = calls.filter(({ api }) => api.startsWith('dialog.') || api.startsWith('shell.'))
  return new Promise((resolve) => {
    if (process.send === undefined) resolve()
    else process.send({ id: 0, value }, () => resolve())
  })
}

export const app = new App()
