import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createSecret, createSecretRegistry } from '../../../../src/main/platform/index.ts'
import { WorkerError } from '../../../../src/main/workers/index.ts'
import { createRedactor } from '../../../../src/main/workers/text/redactor.ts'
import { createStderrRing } from '../../../../src/main/workers/text/stderr-ring.ts'
import { createMemoryLog } from '../../../support/log.ts'

const SECRET = 'the "quoted" key/value'
const redactor = createRedactor(createSecretRegistry(), {
  secrets: [createSecret(SECRET)],
  env: { HOME: '/home/someone', ROUTE: 'http://127.0.0.1:4000/r/abcdef', SHORT: 'no' },
  dirs: ['/var/wheelhouse'],
})

describe('what leaves the workers', () => {
  test('W-60 secrets, values of the environment, paths, addresses and credentials are blanked', () => {
    const text = [
      SECRET,
      JSON.stringify(SECRET).slice(1, -1),
      encodeURIComponent(SECRET),
      'http://127.0.0.1:4000/r/abcdef',
      'in /var/wheelhouse/workers/1/mcp.json, and /home/someone',
      'someone.else@example.org, no',
      'Authorization: Bearer abc.def',
      'x'.repeat(40),
    ].join('\n')
    expect(redactor.sanitize(text).split('\n')).toEqual([
      '[secret]',
      '[secret]',
      '[secret]',
      '[secret]',
      'in [wheelhouse path], and /home/someone',
      '[email], no',
      'Authorization: [credential]',
      '[credential]',
    ])
  })

  test('W-60 what a person approves keeps everything but the registered secrets', () => {
    const command = `curl -H "Bearer x" someone@example.org ${'a'.repeat(50)} ${SECRET}`
    expect(redactor.exact(command)).toBe(command.replace(SECRET, '[secret]'))
  })

  test('W-61 text of an agent is one short line without escapes', () => {
    const line = redactor.line(`\u001b[31mred\u001b[0m\n${'word '.repeat(100)}`)
    expect(line.startsWith('red word word')).toBe(true)
    expect(line).toHaveLength(120)
    expect(redactor.line(`${'y '.repeat(2_047)} ${SECRET}`)).not.toContain('quoted')
  })

  test('W-63 an error is sanitized in every form, and a foreign cause does not survive', () => {
    const error = redactor.error(
      new WorkerError('turn_failed', `no ${SECRET}`, {
        detail: `at ${SECRET}`,
        data: { deep: [SECRET] },
        cause: new Error(SECRET),
      }),
    )
    const shown = [inspect(error, { depth: 9 }), JSON.stringify(error), error.message].join('\n')
    expect(shown).not.toContain('quoted')
    expect(redactor.error(new Error(SECRET))).toMatchObject({ code: 'worker_failed', detail: '[secret]' })
  })

  test('WK-76 the log holds no secret in its message, its fields, or an error and its cause', () => {
    const log = createMemoryLog()
    redactor
      .log(log)
      .child({ who: SECRET })
      .warn(`at ${SECRET}`, {
        nested: { list: [SECRET] },
        error: new Error(SECRET, { cause: new Error(SECRET) }),
      })
    expect(log.entries).toHaveLength(1)
    expect(inspect(log.entries, { depth: 9 })).not.toContain('quoted')
  })

  test('WK-54 a ring that overflowed shows whole lines alone, at most fifty', () => {
    const ring = createStderrRing(1_000, () => 300)
    ring.push(Buffer.from(`${SECRET}\n`))
    for (let line = 0; line < 120; line++) ring.push(Buffer.from(`\u001b[1mline ${line}\u001b[0m\n\n`))
    const lines = redactor.lines(ring.text())
    expect(lines.at(-1)).toBe('line 119')
    expect(lines.length).toBeLessThanOrEqual(50)
    expect(lines.every((line) => /^line \d+$/.test(line))).toBe(true)
    expect(redactor.lines(`${'z '.repeat(400)}\n`)[0]?.length).toBeLessThanOrEqual(300)
  })

  // A second pass for each character would take longer than a test may.
  test('P-2 a megabyte comes through, and one of a single word is taken for a credential', () => {
    const text = 'a.'.repeat(500_000)
    expect(redactor.sanitize(text) === text).toBe(true)
    expect(redactor.sanitize('a'.repeat(1_000_000))).toBe('[credential]')
  })
})
