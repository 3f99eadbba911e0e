import { contextBridge, ipcRenderer } from 'electron'
import { createBridgeClient } from '../shared/bridge/client.ts'
import type { Bridge, TopicObserver } from '../shared/bridge/client.ts'
import type { HostFrame, ProcedureInput, ProcedureName, TopicFilter, TopicName } from '../shared/bridge/index.ts'
import { FRAME_CHANNEL, INVOKE_CHANNEL } from '../shared/bridge/ipc.ts'
import type { PreloadPort } from '../shared/bridge/preload-port.ts'
import { AppError, toWireError } from '../shared/errors.ts'

/** Main stops pulling from its topics until the page has taken what it was sent; it is told at least this often. */
const ACKNOWLEDGE_CHARS = 32_768

/** The two ends of the bridge's IPC, and nothing else of Electron's, are reachable from a page. */
contextBridge.exposeInMainWorld('wheelhouse', Object.freeze(preloadPort(connect())))

function connect(): Bridge {
  return createBridgeClient({
    connect(handlers) {
      let taken = 0
      let told = 0
      ipcRenderer.on(FRAME_CHANNEL, (_event, text: string) => {
        taken += text.length
        if (told === 0 || taken - told >= ACKNOWLEDGE_CHARS) acknowledge()
        else setTimeout(acknowledge, 0)
        // Main alone sends here, and it parsed what it sent.
        handlers.frame(JSON.parse(text) as HostFrame)
      })
      const acknowledge = (): void => {
        if (taken === told) return
        told = taken
        void ipcRenderer.invoke(INVOKE_CHANNEL, { taken })
      }
      void ipcRenderer.invoke(INVOKE_CHANNEL, { open: true })
      return {
        send: (frame) => void ipcRenderer.invoke(INVOKE_CHANNEL, { frame: JSON.stringify(frame) }),
        close: () => {},
      }
    },
    nowMs: () => Date.now(),
    after: (ms, fn) => {
      const timer = setTimeout(fn, ms)
      return () => clearTimeout(timer)
    },
  })
}

function preloadPort(bridge: Bridge): PreloadPort {
  return {
    async call(name, input, cancellable) {
      const abort = new AbortController()
      cancellable?.(() => abort.abort())
      try {
        // The host parses both: an unknown name or a bad input is its typed error.
        return {
          ok: true,
          output: await bridge.call(name as ProcedureName, input as ProcedureInput<ProcedureName>, abort.signal),
        }
      } catch (thrown) {
        return {
          ok: false,
          error: toWireError(thrown instanceof AppError ? thrown : new AppError('internal', String(thrown))),
        }
      }
    },
    subscribe(name, filter, options, onEvent, onEnd) {
      const observer: TopicObserver<TopicName> = {
        ...options,
        event: onEvent,
        ended: (reason, error) => onEnd(reason, error === null ? null : toWireError(error)),
      }
      return bridge.subscribe(name as TopicName, filter as TopicFilter<TopicName>, observer)
    },
    onGeneration(listener) {
      const status = bridge.status()
      if (status.kind === 'open') listener(status.hello)
      return bridge.onStatus((next) => {
        if (next.kind === 'open') listener(next.hello)
      })
    },
  }
}
