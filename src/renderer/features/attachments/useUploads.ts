import { useEffect, useRef, useState } from 'react'
import { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { uploadFile } from './upload.ts'

/** As many as one prompt takes. */
export const MAX_INPUTS = 20

/** A file on its way to the host, or one that did not get there. */
export interface Upload {
  id: string
  file: File
  /** Bytes that the host has. */
  sent: number
  error: AppError | null
}

export interface Uploads {
  pending: readonly Upload[]
  /** More files came than a prompt takes. */
  tooMany: boolean
  add: (files: readonly File[]) => void
  retry: (id: string) => void
  /** Gives it up. */
  remove: (id: string) => void
}

/**
 * Files that a person drops, pastes or chooses, on their way to the host. `onAttached` gets the id of each that arrived;
 * `attached` says how many the prompt has already.
 */
export function useUploads(
  sessionId: string,
  attached: number,
  onAttached: (inputId: string) => Promise<void>,
): Uploads {
  const bridge = useBridge()
  const [pending, setPending] = useState<readonly Upload[]>([])
  const [tooMany, setTooMany] = useState(false)
  const running = useRef(new Map<string, AbortController>())

  useEffect(() => {
    const started = running.current
    return () => {
      for (const abort of started.values()) abort.abort()
      started.clear()
    }
  }, [])

  const patch = (id: string, change: Partial<Upload>): void =>
    setPending((uploads) => uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)))
  const drop = (id: string): void => setPending((uploads) => uploads.filter((upload) => upload.id !== id))

  const start = async (id: string, file: File): Promise<void> => {
    const abort = new AbortController()
    running.current.set(id, abort)
    try {
      const options = { sessionId, onSent: (sent: number) => patch(id, { sent }), signal: abort.signal }
      const { inputId } = await uploadFile(bridge, file, options)
      await onAttached(inputId)
      drop(id)
    } catch (thrown) {
      if (abort.signal.aborted) return
      const error = thrown instanceof AppError ? thrown : new AppError('internal', strings.attachments.failed)
      patch(id, { error })
    } finally {
      running.current.delete(id)
    }
  }

  return {
    pending,
    tooMany,
    add(files) {
      const room = Math.max(0, MAX_INPUTS - attached - pending.length)
      setTooMany(files.length > room)
      const fresh = files.slice(0, room).map((file) => ({ id: crypto.randomUUID(), file, sent: 0, error: null }))
      setPending((uploads) => [...uploads, ...fresh])
      for (const { id, file } of fresh) void start(id, file)
    },
    retry(id) {
      const upload = pending.find((each) => each.id === id)
      if (upload === undefined) return
      patch(id, { error: null, sent: 0 })
      void start(id, upload.file)
    },
    remove(id) {
      running.current.get(id)?.abort()
      setTooMany(false)
      drop(id)
    },
  }
}
