/** The bytes of an answer, handed on in the turn they come in: a stream of Node would queue each of them once more. */
import { Readable } from 'node:stream'

/** What may wait for a reader that is not there yet. */
const AHEAD_BYTES = 65_536

export interface BodyReader {
  data(chunk: Buffer): void
  /** Its last call. Null: the answer came whole. */
  ended(cut: Error | null): void
}

export interface AnswerBody {
  /** What has not been read goes to this reader from now on. */
  read(reader: BodyReader): void
  /** Takes the reader off, and lets the next one begin with these. */
  putBack(chunks: readonly Buffer[]): void
  /** The reader is given nothing until `resume`, and the upstream is held back. */
  pause(): void
  resume(): void
  /** Nobody reads this chunk again: its memory may be used anew. One that is kept need not be told. */
  spent(chunk: Buffer): void
  /** No more is wanted: the connection closes where the answer has not ended. */
  destroy(): void
}

/** Where the bytes come from. */
export interface BodySource {
  pause(): void
  resume(): void
  abort(reason: Error): void
  spent(chunk: Buffer): void
  /** The last of it has been read, or nobody wants it. */
  over(): void
}

/** The body with its writing end; `fail` drops what waits, `ended` does not. */
export interface WritableBody extends AnswerBody, BodyReader {
  fail(reason: Error): void
}

export function createAnswerBody(source: BodySource): WritableBody {
  let reader: BodyReader | null = null
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let end: { readonly cut: Error | null } | null = null
  let paused = false
  let sourcePaused = false

  function deliver(): void {
    for (;;) {
      if (reader === null || paused) return
      const chunk = waiting.shift()
      if (chunk === undefined) break
      waitingBytes -= chunk.length
      reader.data(chunk)
    }
    if (end !== null) {
      const last = reader
      reader = null
      source.over()
      last.ended(end.cut)
    } else if (sourcePaused) {
      sourcePaused = false
      source.resume()
    }
  }

  function holdSource(): void {
    if (sourcePaused || end !== null) return
    sourcePaused = true
    source.pause()
  }

  function drop(): void {
    waiting = []
    waitingBytes = 0
    paused = false
  }

  return {
    data(chunk) {
      if (reader !== null && !paused && waiting.length === 0) return reader.data(chunk)
      waiting.push(chunk)
      waitingBytes += chunk.length
      return waitingBytes >= AHEAD_BYTES ? holdSource() : undefined
    },
    ended(cut) {
      end ??= { cut }
      deliver()
    },
    fail(reason) {
      if (end === null || waiting.length > 0) end = { cut: reason }
      drop()
      deliver()
    },
    read(next) {
      reader = next
      deliver()
    },
    putBack(chunks) {
      reader = null
      waiting.unshift(...chunks)
      for (const { length } of chunks) waitingBytes += length
    },
    pause() {
      paused = true
      holdSource()
    },
    resume() {
      if (!paused) return
      paused = false
      deliver()
    },
    spent: (chunk) => source.spent(chunk),
    destroy() {
      reader = null
      drop()
      source.over()
      if (end === null) source.abort(new Error('The answer is no longer wanted.'))
    },
  }
}

/** The same bytes as a stream. Destroying it closes the connection. */
export function streamOf(body: AnswerBody): Readable {
  const stream = new Readable({
    read: () => body.resume(),
    destroy(error, done) {
      body.destroy()
      done(error)
    },
  })
  body.read({
    data(chunk) {
      if (!stream.push(chunk)) body.pause()
    },
    ended(cut) {
      if (cut === null) stream.push(null)
      else stream.destroy(cut)
    },
  })
  return stream
}

/** A stream that was made of an answer, to be passed on like one. */
export function bodyOf(stream: Readable): AnswerBody {
  const body = createAnswerBody({
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    abort: () => void stream.destroy(),
    spent: () => undefined,
    over: () => undefined,
  })
  stream.on('error', () => undefined)
  stream.once('end', () => body.ended(null)).once('close', () => body.ended(new Error('The answer was cut.')))
  stream.on('data', (chunk: Buffer) => body.data(chunk))
  return body
}
