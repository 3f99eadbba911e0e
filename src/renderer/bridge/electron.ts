import type { Bridge, BridgeStatus } from '../../shared/bridge/client.ts'
import type { ProcedureOutput, TopicEvent } from '../../shared/bridge/index.ts'
import type { PreloadPort } from '../../shared/bridge/preload-port.ts'
import { AppError, fromWireError } from '../../shared/errors.ts'
import { contractChecks } from './checks.ts'

declare global {
  interface Window {
    readonly wheelhouse?: PreloadPort
  }
}

/** The bridge of a window of the app, over the few functions that its preload exposes. */
export function connectByPreload(port: PreloadPort): Bridge {
  const listeners = new Set<(status: BridgeStatus) => void>()
  let status: BridgeStatus = { kind: 'connecting' }
  const forget = port.onGeneration((hello) => {
    status = { kind: 'open', hello }
    for (const listener of listeners) listener(status)
  })
  const check = import.meta.env.DEV ? contractChecks : null

  return {
    async call(name, input, signal) {
      if (signal?.aborted === true) throw aborted()
      // The event itself cannot cross to the preload.
      const answer = await port.call(name, input, (cancel) =>
        signal?.addEventListener('abort', () => cancel(), { once: true }),
      )
      if (!answer.ok) throw fromWireError(answer.error)
      check?.output(name, answer.output)
      // The host validated it against the same contract before it left.
      return answer.output as ProcedureOutput<typeof name>
    },
    subscribe(name, filter, observer) {
      return port.subscribe(
        name,
        filter,
        observer.after === undefined ? {} : { after: observer.after },
        (event) => {
          check?.event(name, event)
          observer.event(event as TopicEvent<typeof name>)
        },
        (reason, error) => observer.ended?.(reason, error === null ? null : fromWireError(error)),
      )
    },
    status: () => status,
    onStatus(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      forget()
      listeners.clear()
    },
  }
}

const aborted = (): AppError => new AppError('aborted', 'The call was cancelled.')
