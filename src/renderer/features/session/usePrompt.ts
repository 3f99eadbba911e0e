import { useRef, useState } from 'react'
import type { SessionView } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'
import type { DraftBox, DraftState } from './draft-box.ts'
import { useBlocked } from './useBlocked.ts'

/** Sends what was typed: at once, or behind the run that is under way. */
export function usePrompt(session: SessionView, draft: DraftState, box: DraftBox | null) {
  const bridge = useBridge()
  const blocked = useBlocked(session)
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<AppError | null>(null)
  /** The same text and files sent again, after an answer that got lost, is the same submission. */
  const submission = useRef<{ text: string; inputIds: readonly string[]; key: string } | null>(null)

  const run = (action: (box: DraftBox) => Promise<void>): void => {
    if (box === null || pending) return
    setPending(true)
    setError(null)
    action(box)
      .catch((thrown: unknown) =>
        setError(thrown instanceof AppError ? thrown : new AppError('internal', 'The prompt could not be sent.')),
      )
      .finally(() => setPending(false))
  }

  /** What nobody sends any more; one that a run has taken stays with it. */
  const forget = (inputId: string): void =>
    void bridge.call('inputs.discard', { sessionId: session.id, inputId }).catch(() => {})

  const submit = async (box: DraftBox): Promise<void> => {
    const { text, inputIds } = box.store.getState()
    if (submission.current?.text !== text || submission.current.inputIds !== inputIds) {
      submission.current = { text, inputIds, key: crypto.randomUUID() }
    }
    const { key } = submission.current
    await bridge.call('runs.submit', { sessionId: session.id, text, inputs: [...inputIds], key })
    submission.current = null
    // Whoever typed on meanwhile keeps that.
    if (box.store.getState().text === text) await box.empty()
  }

  return {
    pending,
    error: error ?? draft.error,
    type(text: string) {
      setError(null)
      box?.type(text)
    },
    send() {
      if (blocked !== null || isEmpty(draft)) return
      run((box) => (session.activeRun === null ? submit(box) : box.queue()))
    },
    sendQueued: () => run(submit),
    unqueue: () => run((box) => box.unqueue()),
    discard: () =>
      run(async (box) => {
        const { inputIds } = box.store.getState()
        await box.empty()
        for (const inputId of inputIds) forget(inputId)
      }),
    attach: async (inputId: string) => box?.attach(inputId),
    detach: (inputId: string) =>
      run(async (box) => {
        await box.detach(inputId)
        forget(inputId)
      }),
  }
}

/** Nothing was typed, and no file goes along. */
export function isEmpty({ text, inputIds }: Pick<DraftState, 'text' | 'inputIds'>): boolean {
  return text.trim() === '' && inputIds.length === 0
}
