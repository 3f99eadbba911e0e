import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSecret } from '../../../src/main/platform/secret.ts'
import { createSecretRegistry } from '../../../src/main/platform/secret-registry.ts'
import type { SecretRegistry } from '../../../src/main/platform/types.ts'

function registryOf(...values: string[]): SecretRegistry {
  const registry = createSecretRegistry()
  values.forEach((value, index) => registry.add(createSecret(value), `key ${index}`))
  return registry
}

function throughStream(registry: SecretRegistry, chunks: readonly string[]): string {
  const stream = registry.stream()
  return chunks.map((chunk) => stream.push(chunk)).join('') + stream.end()
}

/** Cuts `text` at each of `cuts` (taken modulo its length). */
function cut(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((place, index) => text.slice(place, places[index]))
}

describe('redact', () => {
  const KEY = 'sk-"qüote"/+?& \\end'
  const registry = registryOf(KEY)

  test.each([
    ['as it is', KEY],
    ['JSON-escaped', JSON.stringify(KEY).slice(1, -1)],
    ['JSON within JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['JSON with escaped slashes', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
    ['percent-encoded', encodeURIComponent(KEY)],
    ['percent-encoded in lower case', encodeURIComponent(KEY).replaceAll(/%../g, (hex) => hex.toLowerCase())],
    ['as a form field', encodeURIComponent(KEY).replaceAll('%20', '+')],
    ['base64', Buffer.from(KEY).toString('base64')],
    ['base64url', Buffer.from(KEY).toString('base64url')],
  ])('blanks a secret %s', (_form, text) => {
    expect(registry.redact(`before ${text} after`)).toBe('before [secret] after')
  })

  test.each(['', 'a', 'ab', 'user:', 'user1:', 'user12:'])(
    'blanks a secret inside a base64 text after "%s"',
    (before) => {
      const whole = Buffer.from(`${before}${KEY}:and more`).toString('base64')
      const redacted = registry.redact(`Basic ${whole}`)
      expect(redacted).toContain('[secret]')
      const left = redacted.replace('Basic ', '').split('[secret]')
      // What is left of both sides tells at most the bits it shares with a neighbour.
      expect(Buffer.from(left[0] ?? '', 'base64').toString('latin1')).not.toContain(KEY.slice(0, 2))
      expect(redacted.length).toBeLessThan(whole.length)
    },
  )

  test('takes the longer of two secrets that begin alike', () => {
    expect(registryOf('sk-1234', 'sk-1234-5678').redact('a sk-1234-5678 b sk-1234 c')).toBe('a [secret] b [secret] c')
  })

  test('blanks two secrets that overlap as one, so that no end of either stays', () => {
    expect(registryOf('abcdef', 'defghi').redact('1abcdefghi2')).toBe('1[secret]2')
  })

  test('text without a secret is not touched', () => {
    const text = 'sk-"qüot 😀 \ud800'
    expect(registry.redact(text)).toBe(text)
  })

  test('too short a secret is not looked for', () => {
    expect(registryOf('abc', '').redact('abc')).toBe('abc')
  })

  test('a lone surrogate in a secret does no harm', () => {
    expect(registryOf('key-\ud800-end').redact('x key-\ud800-end y')).toBe('x [secret] y')
  })
})

describe('add', () => {
  test('a secret is known until its last owner lets it go', () => {
    const registry = createSecretRegistry()
    const first = registry.add(createSecret('sk-12345678'), 'first')
    const second = registry.add(createSecret('sk-12345678'), 'second')
    expect(registry.find('has sk-12345678')).toEqual(['first', 'second'])
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    expect(registry.redact('sk-12345678')).toBe('[secret]')
    expect(registry.find('has sk-12345678')).toEqual(['second'])
    second[Symbol.dispose]()
    expect(registry.redact('sk-12345678')).toBe('sk-12345678')
    expect(registry.find('has sk-12345678')).toEqual([])
  })

  test('find sees every form', () => {
    expect(registryOf('sk-12345678').find(Buffer.from('sk-12345678').toString('base64'))).toEqual(['key 0'])
  })
})

describe('extend', () => {
  test('a secret of either registry is blanked by the extension, and one of its own by no other', () => {
    const registry = registryOf('sk-12345678')
    const more = registry.extend()
    more.add(createSecret('678-other'), 'own')
    const stream = more.stream()
    const before = stream.push('a sk-1234')
    expect(more.redact('sk-12345678-other, sk-12345678, 678-other')).toBe('[secret], [secret], [secret]')
    expect(more.find('sk-12345678-other')).toEqual(['key 0', 'own'])
    expect(before + stream.push('5678-other b') + stream.end()).toBe('a [secret] b')
    expect(registry.redact('678-other')).toBe('678-other')
  })

  test('it goes by what the other holds now', () => {
    const registry = createSecretRegistry()
    const more = registry.extend()
    const late = registry.add(createSecret('sk-12345678'), 'late')
    expect(more.redact('a sk-12345678')).toBe('a [secret]')
    late[Symbol.dispose]()
    expect(more.redact('a sk-12345678')).toBe('a sk-12345678')
  })
})

describe('stream', () => {
  test('holds back only what may be the beginning of a secret', () => {
    const stream = registryOf('sk-12345678').stream()
    expect(stream.push('hello sk-1234')).toBe('hello ')
    expect(stream.push('x and s')).toBe('sk-1234x and ')
    expect(stream.push('k-12345678!')).toBe('[secret]!')
    expect(stream.end()).toBe('')
  })

  test('finds a secret that was registered while the stream ran', () => {
    const registry = registryOf('sk-other-key')
    const stream = registry.stream()
    const before = stream.push('a sk-')
    registry.add(createSecret('sk-12345678'), 'late')
    expect(before + stream.push('12345678 b') + stream.end()).toBe('a [secret] b')
  })

  // Few letters, so that beginnings, overlaps and repetitions are the rule.
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '"', '%', 'ü', '😀'), minLength: 4, maxLength: 8 })

  test('property: any split of a text gives what redact gives for the whole', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 4 }),
        fc.array(
          fc.oneof(fc.nat(3), fc.string({ unit: fc.constantFrom('a', 'b', '"', '%', 'ü', '😀'), maxLength: 6 })),
        ),
        fc.array(fc.nat(200), { maxLength: 12 }),
        (values, parts, cuts) => {
          const registry = registryOf(...values)
          const text = parts.map((part) => (typeof part === 'number' ? (values[part] ?? '') : part)).join('')
          expect(throughStream(registry, cut(text, cuts))).toBe(registry.redact(text))
          expect(throughStream(registry, text.split(''))).toBe(registry.redact(text))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('property: no registered secret stands in what comes out, and nothing else is lost', () => {
    const key = fc.string({ unit: fc.constantFrom(...'abAB01-_'.split('')), minLength: 12, maxLength: 40 })
    // A text apart from the letters of the keys, and of the mark.
    const filler = fc.string({ unit: fc.constantFrom(...'xyz .\n'.split('')), maxLength: 20 })
    fc.assert(
      fc.property(fc.uniqueArray(key, { minLength: 1, maxLength: 5 }), fc.array(filler), (values, fillers) => {
        const registry = registryOf(...values)
        const text = fillers.map((part, index) => part + (values[index % values.length] ?? '') + '|').join('')
        const redacted = registry.redact(text)
        for (const value of values) expect(redacted).not.toContain(value)
        expect(redacted).toBe(fillers.map((part) => `${part}[secret]|`).join(''))
      }),
    )
  })

  // Longer than a test may take, were each secret looked for by itself at each place.
  test('a megabyte beside a hundred secrets comes through', () => {
    const registry = registryOf(...Array.from({ length: 100 }, (_, index) => `sk-live-${index}-${'x'.repeat(40)}`))
    const text = 'sk-live-1 some ordinary output of a tool, {"with":"json"} and more\n'.repeat(15_000)
    expect(registry.redact(text)).toBe(text)
  })
})
