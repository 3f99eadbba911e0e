import { REDACTED } from './secret.ts'
import { secretForms } from './secret-forms.ts'
import { compileWords } from './text-scanner.ts'
import type { WordList } from './text-scanner.ts'
import type { SecretRegistry } from './types.ts'

interface Entry {
  readonly forms: ReadonlySet<string>
  /** One per registration: the same key may be held by several owners. */
  readonly labels: string[]
}

export function createSecretRegistry(): SecretRegistry {
  return createExtension(null)
}

/** A registry of its own, or one that looks for the secrets of another as well. */
function createExtension(base: { words(): WordList; find: SecretRegistry['find'] } | null): SecretRegistry {
  const entries = new Map<string, Entry>()
  let compiled: WordList | null = null
  let baseCompiled: WordList | undefined

  function words(): WordList {
    const baseWords = base?.words()
    if (compiled === null || baseWords !== baseCompiled) {
      compiled = compileWords(
        [...entries.values()].map(({ forms }) => forms),
        baseWords,
      )
      baseCompiled = baseWords
    }
    return compiled
  }

  function find(text: string): readonly string[] {
    const found = [...entries.values()].filter(({ forms }) => [...forms].some((form) => text.includes(form)))
    return [...new Set([...(base?.find(text) ?? []), ...found.flatMap(({ labels }) => labels)])]
  }

  return {
    add(secret, label) {
      const value = secret.reveal('redactor')
      const known = entries.get(value)
      const entry = known ?? { forms: secretForms(value), labels: [] }
      entry.labels.push(label)
      if (known === undefined) {
        entries.set(value, entry)
        compiled = null
      }
      let held = true
      return {
        [Symbol.dispose]() {
          if (!held) return
          held = false
          entry.labels.splice(entry.labels.indexOf(label), 1)
          if (entry.labels.length > 0) return
          entries.delete(value)
          compiled = null
        },
      }
    },
    redact(text) {
      if (!words().mayHold(text)) return text
      const stream = createRedactingStream(words)
      return stream.push(text) + stream.end()
    },
    stream: () => createRedactingStream(words),
    find,
    extend: () => createExtension({ words, find }),
  }
}

/** Positions in the text that is held back, `end` exclusive. */
interface Span {
  start: number
  end: number
}

/**
 * Holds back what may be the beginning of a secret, or belongs to one that may still grow, and nothing else. Where two
 * secrets overlap, both are blanked as one.
 */
function createRedactingStream(current: () => WordList): ReturnType<SecretRegistry['stream']> {
  let words = current()
  let scanner = words.scanner()
  let held = ''
  /** Found in `held`, in order, apart from each other. */
  let spans: Span[] = []

  function found(end: number, length: number): void {
    const span: Span = { start: end - length, end }
    let last = spans.at(-1)
    while (last !== undefined && last.end > span.start) {
      span.start = Math.min(span.start, last.start)
      spans.pop()
      last = spans.at(-1)
    }
    spans.push(span)
  }

  /** Lets go of everything before `limit`; a secret that reaches beyond it stays whole. */
  function release(limit: number): string {
    if (spans.length === 0) {
      const out = held.slice(0, limit)
      held = held.slice(limit)
      return out
    }
    const kept = spans.findIndex((span) => span.end > limit)
    const done = kept === -1 ? spans.splice(0) : spans.splice(0, kept)
    const end = Math.min(limit, spans[0]?.start ?? limit)
    let out = ''
    let at = 0
    for (const span of done) {
      out += held.slice(at, span.start) + REDACTED
      at = span.end
    }
    out += held.slice(at, end)
    held = held.slice(end)
    spans = spans.map((span) => ({ start: span.start - end, end: span.end - end }))
    return out
  }

  return {
    push(chunk) {
      const fresh = current()
      if (held === '' && fresh === words) {
        // As nearly always: nothing is held, and nothing of this is held back.
        scanner.scan(chunk, 0, found)
        if (spans.length === 0 && scanner.depth() === 0) return chunk
        held = chunk
        return release(held.length - scanner.depth())
      }
      const from = fresh === words ? held.length : 0
      if (fresh !== words) {
        // A secret was added or taken away: what is still here is looked at again.
        words = fresh
        scanner = words.scanner()
        spans = []
      }
      held += chunk
      scanner.scan(held, from, found)
      return release(held.length - scanner.depth())
    },
    end() {
      scanner.reset()
      return release(held.length)
    },
  }
}
