/**
 * Put round the built preload and run at the start of each document, in a closure: of all this the page sees only what the
 * preload exposes. With %COMPROMISED% true it is a page that an attacker took over: every frame can speak to main.
 */
;(() => {
  const call = window.__standin
  delete window.__standin
  if (!call) return
  /** Throws on a function, as Electron does at each crossing. */
  const clone = (value) => (typeof value === 'function' ? value : structuredClone(value))
  const invoke = async (channel, ...args) => {
    const answer = await call({ kind: 'invoke', channel, args: structuredClone(args) })
    if ('error' in answer) throw new Error(`Error invoking remote method '${channel}': ${answer.error}`)
    return answer.value
  }
  if ('%COMPROMISED%'.startsWith('true')) window.compromisedInvoke = invoke
  if (window.top !== window) return

  const listeners = new Map()
  const on = (channel, listener, once) => {
    listeners.set(channel, [...(listeners.get(channel) ?? []), { listener, once }])
    return ipcRenderer
  }
  const off = (channel, listener) => {
    const left = (listeners.get(channel) ?? []).filter((each) => each.listener !== listener)
    listeners.set(channel, left)
    return ipcRenderer
  }
  const ipcRenderer = {
    invoke,
    send: (channel, ...args) => void call({ kind: 'send', channel, args: structuredClone(args) }),
    sendSync: () => {
      throw new Error('the stand-in has no sendSync')
    },
    on: (channel, listener) => on(channel, listener, false),
    addListener: (channel, listener) => on(channel, listener, false),
    once: (channel, listener) => on(channel, listener, true),
    off,
    removeListener: off,
    removeAllListeners: (channel) => (listeners.delete(channel), ipcRenderer),
  }

  /** An error loses its class, code and cause on the way over the context bridge. */
  const bare = (error) => {
    throw new Error(error instanceof Error ? error.message : String(error))
  }
  /** Copied, frozen, functions wrapped: in both directions. */
  const guard = (api) => {
    if (typeof api === 'function') {
      return (...args) => {
        let out
        try {
          out = api(...args.map((arg) => (typeof arg === 'function' ? guard(arg) : clone(arg))))
        } catch (error) {
          bare(error)
        }
        if (out instanceof Promise) return out.then(clone).catch(bare)
        return typeof out === 'function' ? guard(out) : clone(out)
      }
    }
    if (Array.isArray(api)) return Object.freeze(api.map(guard))
    if (api && Object.getPrototypeOf(api) === Object.prototype) {
      return Object.freeze(Object.fromEntries(Object.entries(api).map(([key, value]) => [key, guard(value)])))
    }
    return clone(api)
  }
  const contextBridge = {
    exposeInMainWorld: (name, api) =>
      Object.defineProperty(window, name, {
        value: guard(api),
        writable: false,
        configurable: false,
        enumerable: true,
      }),
  }

  const electron = { contextBridge, ipcRenderer, webUtils: { getPathForFile: () => '' } }
  const require = (id) => {
    if (id === 'electron') return electron
    throw new Error(`module not found: ${id} (a sandboxed preload may require electron only)`)
  }
  const process = {
    type: 'renderer',
    sandboxed: true,
    contextIsolated: true,
    platform: '%PLATFORM%',
    versions: {},
    env: {},
  }
  const deliver = ({ channel, args }) => {
    for (const { listener, once } of listeners.get(channel) ?? []) {
      if (once) off(channel, listener)
      listener({ sender: ipcRenderer, ports: [] }, ...args)
    }
  }
  const pull = async () => {
    for (let first = true; ; first = false) for (const sent of await call({ kind: 'pull', first })) deliver(sent)
  }
  pull().catch(() => undefined)

  const module = { exports: {} }
  // oxlint-disable-next-line no-unused-vars -- names that the preload's own code may use
  ;((require, module, exports, process) => {
    /*PRELOAD*/
  })(require, module, module.exports, process)
})()
