/**
 * Gives the memory of bytes back as soon as they have left. A socket takes up to 64 KiB for each read and leaves them to the
 * next collection of the whole heap; until one comes, a fast stream writes through tens of megabytes that no cache holds,
 * and the collections themselves come dozens of times a second.
 */
import { isMarkedAsUntransferable } from 'node:worker_threads'

/** What is smaller is not worth the call: it is collected with the young. */
const LEAST_BYTES = 16_384

/** Node marks the memory that small buffers share. Did it not, nobody could tell whose memory is whose. */
const IS_TOLD = isMarkedAsUntransferable(Buffer.allocUnsafe(1).buffer)

/** Of an answer's chunks. */
export interface ChunkMemory {
  /** The chunks of one read share its memory, and come one behind the other. */
  came(chunk: Buffer): void
  /** Nobody reads these bytes again, nor is anything still to be written from them. */
  spent(chunk: Buffer): void
}

interface Read {
  readonly memory: ArrayBuffer
  /** Of those that came, not spent yet. */
  bytes: number
}

export function createChunkMemory(): ChunkMemory {
  /** Oldest first; the newest may have more to come. */
  let reads: Read[] | null = null

  function giveBack(at: number): void {
    const [read] = reads?.splice(at, 1) ?? []
    if (read !== undefined) free(read.memory)
  }

  return {
    came({ buffer, length }) {
      const newest = reads?.at(-1)
      if (newest?.memory === buffer) {
        newest.bytes += length
        return
      }
      if (reads !== null && newest?.bytes === 0) giveBack(reads.length - 1)
      if (isOwn(buffer)) (reads ??= []).push({ memory: buffer, bytes: length })
    },
    spent({ buffer, length }) {
      if (reads === null) return
      const at = reads.findIndex((read) => read.memory === buffer)
      const read = reads[at]
      if (read === undefined) return
      read.bytes -= length
      if (read.bytes === 0 && at < reads.length - 1) giveBack(at)
    },
  }
}

/** Of chunks that have memory of their own, as those of a request's body do. Nothing may be written from them any more. */
export function giveBack(chunks: readonly Uint8Array[]): void {
  for (const { buffer, byteLength } of chunks) if (byteLength === buffer.byteLength && isOwn(buffer)) free(buffer)
}

/** A copy to nowhere: what was there is free at once. */
function free(memory: ArrayBuffer): void {
  memory.transfer(0)
}

function isOwn(memory: ArrayBufferLike): memory is ArrayBuffer {
  if (!IS_TOLD || !(memory instanceof ArrayBuffer)) return false
  return memory.byteLength >= LEAST_BYTES && !isMarkedAsUntransferable(memory)
}
