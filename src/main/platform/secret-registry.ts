import { REDACTED } from './secret.ts'
import { secretForms } from './secret-forms.ts'
import { compileScanner, type TextScanner } from './text-scanner.ts'
import type { SecretRegistry } from './types.ts'

interface Entry {
  readonly forms: ReadonlySet<string>
  /** One per registration: the same key may be held by several owners. */
  readonly labels: string[]
}

export function createSecretRegistry(): SecretRegistry {
  const entries = new Map<string, Entry>()
  let compiled: (() => TextScanner) | null = null

  function scanners(): () => TextScanner {
    compiled ??= compileScanner([...entries.values()].map((entry) => entry.forms))
    return compiled
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
      if (entries.size === 0) return text
      const stream = createRedactingStream(scanners)
      return stream.push(text) + stream.end()
    },
    stream: () => createRedactingStream(scanners),
    find(text) {
      const found = [...entries.values()].filter(({ forms }) => [...forms].some((form) => text.includes(form)))
      return [...new Set(found.flatMap(({ labels }) => labels))]
    },
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
function createRedactingStream(scanners: () => () => TextScanner): ReturnType<SecretRegistry['stream']> {
  let maker = scanners()
  let scanner = maker()
  let held = ''
  /** Found in `held`, in order, apart from each other. */
  let spans: Span[] = []

  function scan(from: number): void {
    for (let index = from; index < held.length; index++) {
      const length = scanner.step(held.charCodeAt(index))
      if (length > 0) mark({ start: index + 1 - length, end: index + 1 })
    }
  }

  function mark(span: Span): void {
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
      const fresh = scanners()
      const from = fresh === maker ? held.length : 0
      if (fresh !== maker) {
        // A secret was added or taken away: what is still here is looked at again.
        maker = fresh
        scanner = maker()
        spans = []
      }
      held += chunk
      scan(from)
      return release(held.length - scanner.depth())
    },
    end() {
      scanner = maker()
      return release(held.length)
    },
  }
}
