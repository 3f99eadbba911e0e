/**
 * Brings one item to disk: streamed, bounded in bytes and time, hashed on the way, told apart by its bytes, and at its
 * place only when it is whole.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import { syncFolder, systemCode, withDeadline } from '../../platform/index.ts'
import type { Clock, Ids } from '../../platform/types.ts'
import { identify, SAMPLE_BYTES } from './identify.ts'
import type { Identity } from './identify.ts'
import { MATERIAL_LIMITS } from './limits.ts'
import type { MaterialHints, MaterialKind, OpenMaterial } from './limits.ts'

const IDLE_MS = 60_000
const WHOLE_MS = 10 * 60_000
/** The name of what is not whole yet. */
export const INCOMING = '.incoming-'

export interface Received extends Identity {
  bytes: number
  /** Hex. */
  sha256: string
  /** False: the file is there, but a power failure might still take it. */
  durable: boolean
}

export interface Reception {
  /** Exists, and holds nothing else. Whoever called removes it when this fails. */
  folder: string
  kind: MaterialKind
  hints: MaterialHints
  open: OpenMaterial
  /** The file's name on disk; by default its own. */
  storedAs?: string
  /** Told after each piece that was written. */
  onPiece?: () => void
}

/**
 * @throws AppError `input_too_large`, `input_type_mismatch`, `input_read_timeout` (60 s without a byte, or 10 min in all),
 *   `storage_full`, `file_failed`; the reason of `signal`; what `open` throws.
 */
export async function receive(
  { clock, ids }: { clock: Clock; ids: Ids },
  reception: Reception,
  signal: AbortSignal,
): Promise<Received> {
  const { folder, kind, hints, onPiece } = reception
  const { maxBytes } = MATERIAL_LIMITS[kind]
  refuseOver(hints.size, maxBytes)
  const reading = new AbortController()
  const temp = join(folder, `${INCOMING}${Buffer.from(ids.bytes(8)).toString('hex')}`)
  try {
    const both = AbortSignal.any([signal, reading.signal])
    const source = await timely(clock, IDLE_MS, signal, () => reception.open(both))
    refuseOver(source.size, maxBytes)
    const said = { filename: source.filename ?? hints.filename, mediaType: source.mediaType ?? hints.mediaType }
    const file = await open(temp, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, 0o600)
    let received: Omit<Received, 'durable'>
    try {
      const { bytes, sha256, sample } = await write(file, pieces(clock, source.stream, signal), maxBytes, onPiece)
      const identity = await identify(kind, sample, withoutUndefined(said), () => readBack(file, bytes))
      await file.sync()
      received = { ...identity, bytes, sha256 }
    } finally {
      await file.close()
    }
    await rename(temp, join(folder, reception.storedAs ?? received.filename))
    const durable = await syncFolder(folder).then(
      () => true,
      () => false,
    )
    return { ...received, durable }
  } catch (error) {
    reading.abort(error)
    throw named(error)
  }
}

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0

async function write(
  file: FileHandle,
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onPiece: (() => void) | undefined,
): Promise<{ bytes: number; sha256: string; sample: Uint8Array }> {
  const hash = createHash('sha256')
  const head: Uint8Array[] = []
  let bytes = 0
  for await (const piece of source) {
    if (bytes < SAMPLE_BYTES) head.push(piece.slice(0, SAMPLE_BYTES - bytes))
    bytes += piece.length
    refuseOver(bytes, maxBytes)
    hash.update(piece)
    await file.writeFile(piece)
    onPiece?.()
  }
  return { bytes, sha256: hash.digest('hex'), sample: Buffer.concat(head) }
}

async function readBack(file: FileHandle, bytes: number): Promise<Uint8Array> {
  const whole = new Uint8Array(bytes)
  let at = 0
  while (at < bytes) {
    const { bytesRead } = await file.read(whole, at, bytes - at, at)
    if (bytesRead === 0) throw new AppError('file_failed', 'A file changed while it was read.')
    at += bytesRead
  }
  return whole
}

/** The stream's pieces, as long as they keep coming. */
async function* pieces(
  clock: Clock,
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = stream[Symbol.asyncIterator]()
  const endMs = clock.monotonicMs() + WHOLE_MS
  let byteMs = clock.monotonicMs()
  let ended = false
  try {
    for (;;) {
      const leftMs = Math.min(byteMs + IDLE_MS, endMs) - clock.monotonicMs()
      const step = await timely(clock, Math.max(0, leftMs), signal, () => source.next())
      ended = step.done === true
      if (step.done === true) return
      if (step.value.length === 0) continue
      byteMs = clock.monotonicMs()
      yield step.value
    }
  } finally {
    if (!ended) {
      void Promise.resolve()
        .then(() => source.return?.())
        .catch(() => undefined)
    }
  }
}

async function timely<T>(clock: Clock, ms: number, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  try {
    return await withDeadline(clock, ms, signal, step)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'deadline_exceeded') throw error
    throw new AppError('input_read_timeout', 'The attachment did not arrive in time.', { cause: error })
  }
}

function refuseOver(size: number | undefined, maxBytes: number): void {
  if (size === undefined || size <= maxBytes) return
  throw new AppError('input_too_large', `An attachment of this kind has at most ${maxBytes / 1_048_576} MiB.`)
}

function named(error: unknown): unknown {
  const code = systemCode(error)
  if (error instanceof AppError || code === '') return error
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError('storage_full', 'There is no room on the disk for this attachment.', { cause: error })
  }
  return new AppError('file_failed', 'The attachment could not be read or written.', { detail: code, cause: error })
}

function withoutUndefined(said: { filename: string | undefined; mediaType: string | undefined }): MaterialHints {
  return {
    ...(said.filename === undefined ? {} : { filename: said.filename }),
    ...(said.mediaType === undefined ? {} : { mediaType: said.mediaType }),
  }
}
