import { afterEach, describe, expect, test, vi } from 'vitest'
import { createDraftBox } from '../../../../src/renderer/features/session/draft-box.ts'
import type { Draft } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge } from '../../support/fake-bridge.tsx'

/** A host that keeps one draft by its revision, as the real one does. */
function draftHost(first: Draft | null = null) {
  let draft = first
  const host = createFakeBridge({
    'drafts.get': () => ({ draft }),
    'drafts.set': ({ expectedRev, text, queued }) => {
      if (expectedRev !== (draft?.rev ?? 0)) throw new AppError('draft_conflict', 'Another window has changed it.')
      draft = { rev: expectedRev + 1, text, inputIds: [], queued }
      return draft
    },
  })
  return { host, kept: () => draft, setKept: (next: Draft) => (draft = next) }
}

afterEach(() => vi.useRealTimers())

describe('a draft', () => {
  test('DT-A09 is what the host holds, with what is queued', async () => {
    const { host } = draftHost({ rev: 3, text: 'later', inputIds: [], queued: true })
    const box = createDraftBox(host.bridge, SESSION_ID)
    await vi.waitFor(() => expect(box.store.getState().loaded).toBe(true))
    expect(box.store.getState()).toMatchObject({ text: 'later', queued: true, saved: true })
    box.close()
  })

  test('typing is saved once it pauses, as one', async () => {
    vi.useFakeTimers()
    const { host, kept } = draftHost()
    const box = createDraftBox(host.bridge, SESSION_ID)
    await vi.advanceTimersByTimeAsync(0)
    for (const text of ['h', 'ha', 'half']) box.type(text)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(host.calls('drafts.set')).toHaveLength(1)
    expect(kept()).toMatchObject({ text: 'half', rev: 1 })
    expect(box.store.getState().saved).toBe(true)
    box.close()
  })

  test('what was typed just before the window closes is saved', async () => {
    vi.useFakeTimers()
    const { host, kept } = draftHost()
    const box = createDraftBox(host.bridge, SESSION_ID)
    await vi.advanceTimersByTimeAsync(0)
    box.type('last words')
    box.close()
    await vi.advanceTimersByTimeAsync(0)
    expect(kept()?.text).toBe('last words')
  })

  test('another window that saved first loses nothing here: the newest revision is taken and it is saved again', async () => {
    const { host, kept, setKept } = draftHost()
    const box = createDraftBox(host.bridge, SESSION_ID)
    await vi.waitFor(() => expect(box.store.getState().loaded).toBe(true))
    setKept({ rev: 9, text: 'theirs', inputIds: [], queued: false })
    box.type('mine')
    box.flush()
    await vi.waitFor(() => expect(kept()).toEqual({ rev: 10, text: 'mine', inputIds: [], queued: false }))
    box.close()
  })

  test('a reload never takes away what is still being typed', async () => {
    vi.useFakeTimers()
    const { host } = draftHost({ rev: 1, text: 'old', inputIds: [], queued: false })
    const box = createDraftBox(host.bridge, SESSION_ID)
    await vi.advanceTimersByTimeAsync(0)
    box.type('new')
    await box.reload()
    expect(box.store.getState().text).toBe('new')
    box.close()
    await vi.advanceTimersByTimeAsync(0)
  })

  test('a queue that the host refuses leaves the text as a draft', async () => {
    const host = createFakeBridge({
      'drafts.get': () => ({ draft: null }),
      'drafts.set': () => {
        throw new AppError('storage_full', 'The disk is full.')
      },
    })
    const box = createDraftBox(host.bridge, SESSION_ID)
    await vi.waitFor(() => expect(box.store.getState().loaded).toBe(true))
    box.type('keep me')
    await expect(box.queue()).rejects.toThrow('The disk is full.')
    expect(box.store.getState()).toMatchObject({ text: 'keep me', queued: false, saved: false })
    box.close()
  })
})
