import { createStore } from 'zustand/vanilla'
import type { StoreApi } from 'zustand/vanilla'
import type { Bridge } from '../../../shared/bridge/client.ts'
import type { Draft } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'

/** Typing is kept this long after the last key. */
const SAVE_AFTER_MS = 400

export interface DraftState {
  /** Until the host's draft is known, a queued one is not either. */
  loaded: boolean
  text: string
  /** Files that go along, in their order; the host keeps them. */
  inputIds: readonly string[]
  /** The host sends it when the run that is under way has completed. */
  queued: boolean
  /** What is shown is what the host holds. */
  saved: boolean
  error: AppError | null
}

export const NO_DRAFT: DraftState = {
  loaded: false,
  text: '',
  inputIds: [],
  queued: false,
  saved: true,
  error: null,
}

export interface DraftBox {
  store: StoreApi<DraftState>
  type(text: string): void
  /** One more file goes along. @throws AppError: it does not. */
  attach(inputId: string): Promise<void>
  detach(inputId: string): Promise<void>
  /** Keeps the text for the end of the run. @throws AppError: it stays as it was. */
  queue(): Promise<void>
  /** Back to a draft that a person edits and sends. */
  unqueue(): Promise<void>
  /** The text was sent, or is not wanted any more. */
  empty(): Promise<void>
  /** Takes what the host holds, unless something typed here is still to be saved. */
  reload(): Promise<void>
  /** Saves at once what was typed just now. */
  flush(): void
  close(): void
}

interface Wanted {
  text: string
  inputIds: readonly string[]
  queued: boolean
}

/**
 * One session's draft. It lives in the host, so that it survives a reload and a restart; here it is only typed. Saves go one
 * after the other; of two windows that type, the one that typed last wins, and neither loses what it shows.
 */
export function createDraftBox(bridge: Bridge, sessionId: string): DraftBox {
  const store = createStore<DraftState>(() => NO_DRAFT)
  let rev = 0
  let timer: ReturnType<typeof setTimeout> | null = null
  let saving: Promise<void> | null = null
  let closed = false

  const stopTimer = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
  }

  async function put(wanted: Wanted): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        const kept = await bridge.call('drafts.set', {
          sessionId,
          expectedRev: rev,
          ...wanted,
          inputIds: [...wanted.inputIds],
        })
        rev = kept.rev
        return
      } catch (thrown) {
        if (!(thrown instanceof AppError) || thrown.code !== 'draft_conflict' || tries > 3) throw thrown
        const { draft } = await bridge.call('drafts.get', { sessionId })
        rev = draft?.rev ?? 0
      }
    }
  }

  /** Saves until what is shown is what the host holds. */
  async function save(): Promise<void> {
    stopTimer()
    await saving
    if (saving !== null) return save()
    const { text, inputIds, queued, saved } = store.getState()
    if (saved) return
    saving = put({ text, inputIds, queued }).finally(() => {
      saving = null
    })
    await saving
    const now = store.getState()
    if (now.text === text && now.inputIds === inputIds && now.queued === queued)
      store.setState({ saved: true, error: null })
    else if (!closed) await save()
  }

  const saveQuietly = (): void => {
    save().catch((thrown: unknown) => {
      store.setState({ error: thrown instanceof AppError ? thrown : null })
    })
  }

  async function change(next: Partial<Wanted>): Promise<void> {
    const before = store.getState()
    store.setState({ ...next, saved: false })
    try {
      await save()
    } catch (thrown) {
      store.setState({ queued: before.queued })
      throw thrown
    }
  }

  async function reload(): Promise<void> {
    if (timer !== null || saving !== null) return
    const { draft } = await bridge.call('drafts.get', { sessionId })
    if (closed || timer !== null || saving !== null) return
    adopt(draft)
  }

  function adopt(draft: Draft | null): void {
    rev = draft?.rev ?? 0
    const { saved, loaded } = store.getState()
    if (!saved && loaded) return
    // What was typed before the host answered is newer than what it holds.
    if (!saved) return store.setState({ loaded: true })
    const { text = '', inputIds = [], queued = false } = draft ?? {}
    store.setState({ loaded: true, saved: true, text, inputIds, queued })
  }

  const load = (): void => void reload().catch(() => {})
  const forgetStatus = bridge.onStatus((status) => {
    if (status.kind !== 'open') return
    if (store.getState().saved) load()
    else saveQuietly()
  })
  if (bridge.status().kind === 'open') load()

  return {
    store,
    type(text) {
      store.setState({ text, saved: false })
      stopTimer()
      timer = setTimeout(saveQuietly, SAVE_AFTER_MS)
    },
    queue: () => change({ queued: true }),
    unqueue: () => change({ queued: false }),
    attach: (inputId) => change({ inputIds: [...store.getState().inputIds, inputId] }),
    detach: (inputId) => change({ inputIds: store.getState().inputIds.filter((each) => each !== inputId) }),
    empty: () => change({ text: '', inputIds: [], queued: false }),
    reload,
    flush() {
      if (timer !== null) saveQuietly()
    },
    close() {
      closed = true
      forgetStatus()
      if (timer !== null) saveQuietly()
    },
  }
}
