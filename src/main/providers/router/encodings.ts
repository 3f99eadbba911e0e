/** The content encodings that the Router reads. Their decoders work in the thread pool, a chunk at a time. */
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'

const CHUNK_BYTES = 65_536

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: CHUNK_BYTES }),
  deflate: () => createInflate({ chunkSize: CHUNK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: CHUNK_BYTES }),
}

export function isIdentity(encoding: string | undefined): boolean {
  const name = nameOf(encoding)
  return name === '' || name === 'identity'
}

/** Null: an encoding, or a list of them, that is not read. */
export function createDecoder(encoding: string | undefined): Transform | null {
  const name = nameOf(encoding)
  return Object.hasOwn(DECODERS, name) ? (DECODERS[name]?.() ?? null) : null
}

function nameOf(encoding: string | undefined): string {
  return (encoding ?? '').trim().toLowerCase()
}
