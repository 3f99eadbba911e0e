import { expect, test } from 'vitest'
import { createChunkMemory } from '../../../../src/main/providers/upstream/chunk-memory.ts'

const READ_BYTES = 65_536

/** A read of a socket: memory of its own, and the pieces that an HTTP parser makes of it. */
function read(...lengths: number[]): Buffer[] {
  const memory = new ArrayBuffer(READ_BYTES)
  let at = 0
  return lengths.map((length) => {
    const chunk = Buffer.from(memory, at, length)
    at += length
    return chunk
  })
}

function come(...reads: readonly (readonly Buffer[])[]) {
  const memory = createChunkMemory()
  for (const chunk of reads.flat()) memory.came(chunk)
  return memory
}

const bytesOf = (chunks: readonly Buffer[]): number[] => chunks.map(({ buffer }) => buffer.byteLength)

test('the memory of a read is given back once all its chunks are spent and another read has come', () => {
  const [first, second] = [read(40_000, 20_000), read(60_000)]
  const memory = come(first, second)
  for (const chunk of first.slice(0, 1)) memory.spent(chunk)
  expect(bytesOf([...first, ...second])).toEqual([READ_BYTES, READ_BYTES, READ_BYTES])
  for (const chunk of first.slice(1)) memory.spent(chunk)
  expect(bytesOf([...first, ...second])).toEqual([0, 0, READ_BYTES])
})

test('the newest read may have more to come: it waits for the next', () => {
  const [first, second] = [read(30_000, 30_000), read(60_000)]
  const memory = come(first.slice(0, 1))
  for (const chunk of first.slice(0, 1)) memory.spent(chunk)
  expect(bytesOf(first)).toEqual([READ_BYTES, READ_BYTES])
  for (const chunk of first.slice(1)) memory.came(chunk)
  for (const chunk of first.slice(1)) memory.spent(chunk)
  expect(bytesOf(first)).toEqual([READ_BYTES, READ_BYTES])
  for (const chunk of second) memory.came(chunk)
  expect(bytesOf([...first, ...second])).toEqual([0, 0, READ_BYTES])
})

test('a chunk that nobody calls spent stays, and those behind it go', () => {
  const [kept, gone, newest] = [read(60_000), read(60_000), read(60_000)]
  const memory = come(kept, gone, newest)
  for (const chunk of gone) memory.spent(chunk)
  expect(bytesOf([...kept, ...gone, ...newest])).toEqual([READ_BYTES, 0, READ_BYTES])
})

test('memory that other buffers share is never given back, nor what did not come', () => {
  const pooled = Array.from({ length: 20 }, () => Buffer.allocUnsafe(4_000).fill('p'))
  const stranger = read(60_000)
  const memory = come(pooled, read(60_000))
  for (const chunk of [...pooled, ...stranger]) memory.spent(chunk)
  expect(pooled.every((chunk) => chunk.toString() === 'p'.repeat(4_000))).toBe(true)
  expect(bytesOf(stranger)).toEqual([READ_BYTES])
})

test('small reads are left to the next collection', () => {
  const small = Buffer.from(new ArrayBuffer(1_000))
  const memory = come([small], read(60_000))
  memory.spent(small)
  expect(small.buffer.byteLength).toBe(1_000)
})
