import { expect, test } from 'vitest'
import { createAnswerBody, streamOf } from '../../../../src/main/providers/upstream/answer-body.ts'
import type { BodyReader } from '../../../../src/main/providers/upstream/answer-body.ts'

function body() {
  const said: string[] = []
  const made = createAnswerBody({
    pause: () => void said.push('pause'),
    resume: () => void said.push('resume'),
    abort: () => void said.push('abort'),
    spent: (chunk) => void said.push(`spent ${chunk.toString()}`),
    over: () => void said.push('over'),
  })
  return { said, made }
}

function reading(onData: (text: string) => void = () => undefined) {
  const seen: string[] = []
  const reader: BodyReader = {
    data(chunk) {
      seen.push(chunk.toString())
      onData(chunk.toString())
    },
    ended: (cut) => void seen.push(cut === null ? 'end' : `cut: ${cut.message}`),
  }
  return { seen, reader }
}

test('what comes before its reader waits, bounded, and is read in order with what follows', () => {
  const { said, made } = body()
  made.data(Buffer.from('a'))
  expect(said).toEqual([])
  made.data(Buffer.alloc(65_536, 'b'))
  expect(said).toEqual(['pause'])
  const { seen, reader } = reading()
  made.read(reader)
  expect(said).toEqual(['pause', 'resume'])
  made.data(Buffer.from('c'))
  made.ended(null)
  expect(seen).toEqual(['a', 'b'.repeat(65_536), 'c', 'end'])
  expect(said).toEqual(['pause', 'resume', 'over'])
})

test('a reader that pauses gets the rest, and the end, when it goes on', () => {
  const { said, made } = body()
  const { seen, reader } = reading((text) => {
    if (text === 'a') made.pause()
  })
  made.read(reader)
  for (const text of ['a', 'b', 'c']) made.data(Buffer.from(text))
  made.ended(new Error('gone'))
  expect([seen, said]).toEqual([['a'], ['pause']])
  made.resume()
  expect(seen).toEqual(['a', 'b', 'c', 'cut: gone'])
})

test('what a reader puts back is the next one’s beginning', () => {
  const { made } = body()
  const first = reading((text) => {
    if (text === 'b') made.putBack([Buffer.from('a'), Buffer.from('b')])
  })
  made.read(first.reader)
  for (const text of ['a', 'b', 'c']) made.data(Buffer.from(text))
  made.ended(null)
  const second = reading()
  made.read(second.reader)
  expect([first.seen, second.seen]).toEqual([
    ['a', 'b'],
    ['a', 'b', 'c', 'end'],
  ])
})

test('a failure drops what waits, also of an answer that came whole; who wants no more aborts what still comes', () => {
  const failing = body()
  const { seen, reader } = reading()
  failing.made.read(reader)
  failing.made.pause()
  failing.made.data(Buffer.from('a'))
  failing.made.ended(null)
  failing.made.fail(new Error('released'))
  expect(seen).toEqual(['cut: released'])
  const dropped = body()
  dropped.made.data(Buffer.from('a'))
  dropped.made.destroy()
  expect(dropped.said).toEqual(['over', 'abort'])
})

test('as a stream it is held back by whoever reads it', async () => {
  const { said, made } = body()
  const stream = streamOf(made)
  const chunks = Array.from({ length: 8 }, (_, n) => Buffer.alloc(32_768, n))
  for (const chunk of chunks) made.data(chunk)
  expect(said).toEqual(['pause'])
  made.ended(null)
  expect(Buffer.concat((await stream.toArray()) as Buffer[])).toEqual(Buffer.concat(chunks))
})
