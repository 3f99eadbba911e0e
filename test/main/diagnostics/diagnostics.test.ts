import { randomBytes } from 'node:crypto'
import { crc32, inflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { exportDiagnostics } from '../../../src/main/diagnostics/index.ts'
import type { DiagnosticsDeps } from '../../../src/main/diagnostics/index.ts'
import { createSecret, createSecretRegistry } from '../../../src/main/platform/index.ts'
import { createFakeClock } from '../../support/clock.ts'

const KEYS = ['sk-planted-0123456789abcdef', 'rt-another/with+signs=="and quotes"']

/** What a reader of archives finds: its directory says how many entries there are, and where each begins. */
function unzip(archive: Buffer): Record<string, string> {
  const found: Record<string, string> = {}
  const end = archive.length - 22
  expect(archive.readUInt32LE(end)).toBe(0x06054b50)
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    expect(archive.readUInt32LE(at)).toBe(0x02014b50)
    const packed = archive.readUInt32LE(at + 20)
    const nameLength = archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    const local = archive.readUInt32LE(at + 42)
    expect(archive.readUInt32LE(local)).toBe(0x04034b50)
    const from = local + 30 + archive.readUInt16LE(local + 26)
    const content = inflateRawSync(archive.subarray(from, from + packed))
    expect(crc32(content)).toBe(archive.readUInt32LE(at + 16))
    found[name] = content.toString('utf8')
    at += 46 + nameLength
  }
  return found
}

function deps(change: Partial<DiagnosticsDeps> = {}): DiagnosticsDeps {
  const secrets = createSecretRegistry()
  for (const [index, key] of KEYS.entries()) secrets.add(createSecret(key), `key ${index}`)
  return {
    clock: createFakeClock(1_700_000_000_000),
    secrets,
    readLog: async () => KEYS.map((key) => ({ level: 'info', msg: `sent ${key}`, url: encodeURIComponent(key) })),
    health: async () => [{ id: 'a', label: 'Keys', status: 'warn', message: `found ${KEYS[0]}`, hint: null }],
    facts: async () => ({
      settings: { note: KEYS[1] },
      sessions: [{ title: Buffer.from(KEYS[0] ?? '').toString('base64') }],
    }),
    ...change,
  }
}

const signal = new AbortController().signal

test('DT-A32 the archive opens, says what is wrong, and holds none of the keys in any form', async () => {
  const { zip: archive, filename } = await exportDiagnostics(deps(), signal)
  expect(filename).toBe('wheelhouse-diagnostics-2023-11-14T22-13-20.zip')
  const files = unzip(archive)
  expect(Object.keys(files).sort()).toEqual(['health.json', 'log.jsonl', 'sessions.json', 'settings.json'])
  expect(files['health.json']).toContain('found [secret]')
  const everything = `${archive.toString('latin1')}${Object.values(files).join('')}`
  for (const key of KEYS) {
    for (const form of [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), btoa(key)]) {
      expect(everything).not.toContain(form)
    }
  }
})

test('DT-A32 nothing is handed out where a key is left', async () => {
  const { secrets, ...rest } = deps()
  const leaky = { ...secrets, redact: (text: string) => text, find: secrets.find.bind(secrets) }
  await expect(exportDiagnostics({ ...rest, secrets: leaky }, signal)).rejects.toMatchObject({
    code: 'internal',
    detail: expect.stringContaining('key 0'),
  })
})

test('a long log loses its beginning, not its end', async () => {
  const lines = Array.from({ length: 6_000 }, (_, index) => ({ n: index, noise: randomBytes(600).toString('base64') }))
  const { zip: archive } = await exportDiagnostics(deps({ readLog: async () => lines }), signal)
  expect(archive.length).toBeLessThan(2_800_000)
  const log = unzip(archive)['log.jsonl'] ?? ''
  expect(log).toContain('"n":5999')
  expect(log).not.toContain('"n":0,')
})
