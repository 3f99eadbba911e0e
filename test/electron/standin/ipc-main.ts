import { EventEmitter } from 'node:events'

type Handler = (event: unknown, ...args: unknown[]) => unknown

class IpcMain extends EventEmitter {
  readonly handlers = new Map<string, Handler>()
  handle(channel: string, handler: Handler): void {
    if (this.handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`)
    this.handlers.set(channel, handler)
  }
  removeHandler(channel: string): void {
    this.handlers.delete(channel)
  }
}

export const ipcMain = new IpcMain()

export type IpcAnswer = { value: unknown } | { error: string }

/** Arguments and answer are cloned at the crossing; an error crosses as its text alone, as in Electron. */
export async function invokeHandler(channel: string, event: unknown, args: readonly unknown[]): Promise<IpcAnswer> {
  const handler = ipcMain.handlers.get(channel)
  if (handler === undefined) return { error: `Error: No handler registered for '${channel}'` }
  try {
    const value: unknown = await handler(event, ...structuredClone(args))
    return { value: structuredClone(value) }
  } catch (error) {
    return { error: String(error) }
  }
}
