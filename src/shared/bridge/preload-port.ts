/**
 * What the preload exposes to a window of the app, and all of it. Errors cross as data: a thrown one would lose its code
 * on the way.
 */
import type { WireError } from '../errors.ts'
import type { EndReason, Hello } from './index.ts'

export type PortAnswer = { ok: true; output: unknown } | { ok: false; error: WireError }

export interface PreloadPort {
  /** `cancellable` is handed the function that cancels this call. */
  call(name: string, input: unknown, cancellable?: (cancel: () => void) => void): Promise<PortAnswer>
  /** Answers the function that ends it. `after`: resume from this sequence. */
  subscribe(
    name: string,
    filter: unknown,
    options: { after?: number },
    onEvent: (event: unknown) => void,
    onEnd: (reason: EndReason, error: WireError | null) => void,
  ): () => void
  /** Told at once and after each new connection to the host. Answers the function that forgets the listener. */
  onGeneration(listener: (hello: Hello) => void): () => void
}
