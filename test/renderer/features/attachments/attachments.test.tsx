import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { PublishedFiles } from '../../../../src/renderer/features/attachments/index.ts'
import { SessionPane } from '../../../../src/renderer/features/session/index.ts'
import type { Draft, InputView } from '../../../../src/shared/bridge/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'
import { seriousFindings } from '../../support/axe.ts'
import { numbered, SESSION_ID } from '../../support/decisions.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'
import { aRun, aSession, aSnapshot, RUN_ID, running } from '../../support/sessions.ts'

const CHUNK = 4

beforeEach(() => window.history.replaceState(null, '', '/'))

/** A host that keeps what it is handed in memory. */
function openComposer({ session = aSession(), ...handlers }: FakeHandlers & { session?: ReturnType<typeof aSession> }) {
  const kept = new Map<string, InputView>()
  const begun = new Map<string, { view: InputView; received: number }>()
  let draft: Draft | null = null
  const host = createFakeBridge(
    {
      'sessions.snapshot': () => aSnapshot(session, []),
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [{ value: 'agent', available: true, why: null }] },
        choice: session.choice,
        choices: [],
        source: 'catalog',
      }),
      'agents.list': () => ({ agents: [] }),
      'drafts.get': () => ({ draft }),
      'drafts.set': ({ expectedRev, text, inputIds, queued }) =>
        (draft = { rev: expectedRev + 1, text, inputIds, queued }),
      'runs.submit': () => ({ runId: RUN_ID, state: 'created', replayed: false }),
      'inputs.limits': () => {
        const limit = { maxBytes: 64, maxPixels: null }
        return { image: limit, file: limit, audio: limit, video: limit }
      },
      'inputs.begin': ({ kind, filename, size, mediaType = 'text/plain' }) => {
        const id = numbered(500 + begun.size)
        const view = { inputId: id, kind, filename, mediaType, bytes: size, status: 'prepared', createdAt: 1 } as const
        begun.set(id, { view, received: 0 })
        return { uploadId: id, chunkBytes: CHUNK }
      },
      'inputs.chunk': ({ uploadId, base64 }) => {
        const upload = begun.get(uploadId)
        if (upload === undefined) throw new AppError('input_unavailable', 'This upload is over.')
        upload.received += atob(base64).length
        return { received: upload.received }
      },
      'inputs.finish': ({ uploadId }) => {
        const upload = begun.get(uploadId)
        if (upload === undefined) throw new AppError('input_unavailable', 'This upload is over.')
        kept.set(uploadId, upload.view)
        return upload.view
      },
      'inputs.abort': () => ({ aborted: true }),
      'inputs.get': ({ inputId }) => {
        const view = kept.get(inputId)
        if (view === undefined) throw new AppError('input_unavailable', 'It is gone.')
        return view
      },
      'inputs.discard': ({ inputId }) => {
        const view = kept.get(inputId)
        if (view === undefined) throw new AppError('input_unavailable', 'It is gone.')
        return { ...view, status: 'deleted' }
      },
      ...handlers,
    },
    { sessions: { kind: 'snapshot', sessions: [session] }, decisions: { kind: 'snapshot', decisions: [] } },
  )
  return { host, user: renderWithBridge(<SessionPane sessionId={session.id} />, host) }
}

const chips = () => screen.findByRole('list', { name: 'Attached files' })
const prompt = () => screen.findByRole('textbox', { name: 'Prompt' })
const paste = async (...files: File[]) =>
  fireEvent.paste(await prompt(), { clipboardData: { files, types: ['Files'] } })

describe('files in the composer', () => {
  test('a pasted file is handed over in chunks, kept with the draft, and goes along with the prompt', async () => {
    const { host, user } = openComposer({})
    await paste(new File(['ten bytes!'], 'notes.txt', { type: 'text/plain' }))
    expect(within(await chips()).getByText('notes.txt')).toBeDefined()
    await waitFor(() => expect(host.calls('drafts.set').at(-1)?.inputIds).toEqual([numbered(500)]))
    expect(host.calls('inputs.chunk').map(({ index }) => index)).toEqual([0, 1, 2])
    expect(host.calls('inputs.begin')).toMatchObject([{ kind: 'file', filename: 'notes.txt', size: 10 }])
    await user.click(screen.getByRole('button', { name: 'Send' }))
    await waitFor(() => expect(host.calls('runs.submit')).toMatchObject([{ text: '', inputs: [numbered(500)] }]))
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Attached files' })).toBeNull())
  })

  test('files that are dropped on the window are attached, an image as an image', async () => {
    const { host } = openComposer({})
    await prompt()
    const files = [new File(['png'], 'shot.png', { type: 'image/png' })]
    fireEvent.drop(window, { dataTransfer: { files, types: ['Files'] } })
    await waitFor(() => expect(host.calls('inputs.begin')).toMatchObject([{ kind: 'image' }]))
    expect(within(await chips()).getByRole('img', { name: 'Image' })).toBeDefined()
  })

  test('a removed file leaves the draft, and the host is told that nobody sends it', async () => {
    const { host, user } = openComposer({})
    await paste(new File(['a'], 'a.txt'))
    await waitFor(() => expect(host.calls('drafts.set').at(-1)?.inputIds).toHaveLength(1))
    await user.click(await screen.findByRole('button', { name: 'Remove: a.txt' }))
    await waitFor(() => expect(host.calls('inputs.discard')).toMatchObject([{ inputId: numbered(500) }]))
    expect(host.calls('drafts.set').at(-1)?.inputIds).toEqual([])
  })

  test('a file that is too large says so before a byte of it is sent', async () => {
    const { host } = openComposer({})
    await paste(new File(['x'.repeat(65)], 'big.bin'))
    expect((await screen.findByRole('alert')).textContent).toContain('at most 64 B')
    expect(host.calls('inputs.begin')).toEqual([])
  })

  test('DT-A09 a follow-up with a file is queued with it', async () => {
    const { host, user } = openComposer({ session: running() })
    await paste(new File(['a'], 'a.txt'))
    await waitFor(() => expect(host.calls('drafts.set').at(-1)?.inputIds).toHaveLength(1))
    await user.type(await prompt(), 'then this{Enter}')
    const queued = await screen.findByRole('region', { name: /^Queued/ })
    expect(within(queued).getByText('a.txt')).toBeDefined()
    expect(host.calls('drafts.set').at(-1)).toMatchObject({
      text: 'then this',
      inputIds: [numbered(500)],
      queued: true,
    })
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    openComposer({})
    await paste(new File(['a'], 'a.txt'))
    await chips()
    expect(await seriousFindings()).toEqual([])
  })
})

describe('files from the agent', () => {
  const file = {
    artifactId: numbered(42),
    kind: 'file',
    filename: 'report.md',
    mediaType: 'text/markdown',
    bytes: 11,
  } as const
  const attachment = { ...file, runId: RUN_ID, expiresAt: 9 }

  function show() {
    const host = createFakeBridge({
      'attachments.read': ({ offset }) =>
        offset === 0
          ? { attachment, base64: btoa('hello '), next: 6 }
          : { attachment, base64: btoa('again'), next: null },
    })
    return { host, user: renderWithBridge(<PublishedFiles sessionId={SESSION_ID} files={[file]} />, host) }
  }

  test('are looked at as text, all pages of them', async () => {
    const { host, user } = show()
    await user.click(screen.getByRole('button', { name: 'Open: report.md' }))
    const dialog = await screen.findByRole('dialog', { name: 'report.md' })
    await within(dialog).findByText('hello again')
    expect(host.calls('attachments.read').map(({ offset }) => offset)).toEqual([0, 6])
    expect(await seriousFindings()).toEqual([])
  })

  test('are saved under their own name, with all of their bytes', async () => {
    const blobs: Blob[] = []
    vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => {
      if (blob instanceof Blob) blobs.push(blob)
      return 'blob:kept'
    })
    const clicked = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {})
    const { user } = show()
    await user.click(screen.getByRole('button', { name: 'Save: report.md' }))
    await waitFor(() => expect(clicked).toHaveBeenCalledTimes(1))
    expect(await blobs[0]?.text()).toBe('hello again')
    vi.restoreAllMocks()
  })

  test('stand in the turn that made them', async () => {
    const session = aSession()
    const host = createFakeBridge(
      {
        'sessions.snapshot': () => aSnapshot(session, [aRun({ artifacts: [file] })]),
        'agents.list': () => ({ agents: [] }),
        'drafts.get': () => ({ draft: null }),
      },
      { sessions: { kind: 'snapshot', sessions: [session] }, decisions: { kind: 'snapshot', decisions: [] } },
    )
    renderWithBridge(<SessionPane sessionId={session.id} />, host)
    const files = await screen.findByRole('region', { name: 'Files from the agent' })
    expect(within(files).getByText('report.md')).toBeDefined()
  })
})
