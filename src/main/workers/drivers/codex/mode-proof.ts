/** Whether the thread runs in the mode it was told: believed only from what Codex says of it, never from our own request. */
import type { Conversation } from '../shared/types.ts'
import { modeDifference } from './mode.ts'
import type { ThreadMode, ToldSettings } from './mode.ts'

export interface ModeProof {
  readonly proven: boolean
  /** What differs, when it is not proven. */
  readonly lastTold: string
  /** Settings that Codex reports. Once proven, any other mode is the session's end. */
  told(settings: ToldSettings): void
  /** Resolves when it is proven; abort ends the waiting alone. */
  wait(signal: AbortSignal): Promise<void>
  /** A turn begins: without proof it must not. */
  turnStarts(): void
}

export interface ModeProofParts {
  conversation: Pick<Conversation, 'modeProven' | 'unsafe'>
  wanted: ThreadMode
  /** The session's folder, by each of its names. */
  cwds: readonly string[]
  onProven(): void
}

export function createModeProof({ conversation, wanted, cwds, onProven }: ModeProofParts): ModeProof {
  const proof = Promise.withResolvers<void>()
  let proven = false
  let last = 'nothing was said of it'

  return {
    get proven() {
      return proven
    },
    get lastTold() {
      return last
    },
    told(settings) {
      const differs = modeDifference(wanted, settings, cwds)
      if (differs !== null) {
        last = differs
        if (proven) conversation.unsafe('Codex left the permission mode it was told.', differs)
      } else if (!proven) {
        proven = true
        conversation.modeProven()
        onProven()
        proof.resolve()
      }
    },
    wait: (signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        void proof.promise.then(resolve)
      }),
    turnStarts() {
      if (!proven) conversation.unsafe('Codex began to work in a permission mode it was not told.', last)
    },
  }
}
