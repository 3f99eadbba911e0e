import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { classifyCommand } from '../../../src/main/runtime/policy/index.ts'
import { createTempDir } from '../../support/dir.ts'
import { playTurn, PROTOCOLS, startRehearsal } from './support.ts'

const CONTENT = '\nFirst line\nSecond line\n'
const DIGEST = createHash('sha256').update(CONTENT).digest('hex').slice(0, 8)

describe.each(PROTOCOLS)('the built-in agent on %s', (protocol) => {
  test('a rehearsal lists, reads, proposes an edit, runs a command and says what it did', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('notes.txt'), CONTENT)
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Improve this project' })
    expect(turn.calls.map(({ tool, input }) => [tool, input])).toEqual([
      ['list', { path: '.' }],
      ['read', expect.objectContaining({ path: 'notes.txt' })],
      [
        'edit',
        {
          path: 'notes.txt',
          old_text: 'First line',
          new_text: `First line\nRehearsed on 3 lines, sha256 ${DIGEST}.`,
        },
      ],
      ['bash', expect.objectContaining({ command: "chmod u+w -- 'notes.txt' && wc -c -- 'notes.txt'" })],
    ])
    const content = readFileSync(dir.at('notes.txt'), 'utf8')
    expect(content).toBe(`\nFirst line\nRehearsed on 3 lines, sha256 ${DIGEST}.\nSecond line\n`)
    expect(turn.texts.at(-1)).toBe(
      `I added one line to \`notes.txt\` and ran a command on it. The file now has ${content.length} bytes. This was a rehearsal.`,
    )
    expect(turn.finishReason).toBe('stop')
  })

  test('text comes in several deltas, with pauses and with counts', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go' })
    expect(turn.texts.every((text) => text.length > 0)).toBe(true)
    expect(turn.deltas).toBeGreaterThan(turn.texts.length * 2)
    expect(new Set(rehearsal.clock.slept)).toEqual(new Set([12]))
    expect(turn.usage.inputTokens).toBeGreaterThan(100)
    expect(turn.usage.outputTokens).toBeGreaterThan(10)
  })

  test('the same conversation gets the same answer and the same counts', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('a.md'), 'x\n')
    const deny = { edit: 'no' }
    const play = { ...rehearsal, protocol, cwd: dir.path, prompt: 'Go', deny }
    const [first, second] = [await playTurn(play), await playTurn(play)]
    expect({ ...second, history: null }).toEqual({ ...first, history: null })
  })

  test('DT-A02 a refused edit ends the turn with the reason quoted', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('notes.txt'), CONTENT)
    const deny = { edit: 'Not in this file. Please.' }
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go', deny })
    expect(turn.calls.map((call) => call.tool)).toEqual(['list', 'read', 'edit'])
    expect(turn.texts.at(-1)).toBe(
      'You did not allow the edit of `notes.txt`. Your reason: “Not in this file. Please.”. Nothing was changed, and I leave it at that.',
    )
    expect(readFileSync(dir.at('notes.txt'), 'utf8')).toBe(CONTENT)
  })

  test('a refused command says that the edit stays', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('notes.txt'), CONTENT)
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go', deny: { bash: '' } })
    expect(turn.texts.at(-1)).toBe(
      "You did not allow the command `chmod u+w -- 'notes.txt' && wc -c -- 'notes.txt'`. You gave no reason. The change to the file stays; I leave the rest.",
    )
  })

  test('an empty folder gets a new file', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go' })
    expect(turn.calls.map((call) => call.tool)).toEqual(['list', 'write', 'bash'])
    expect(readFileSync(dir.at('rehearsal.md'), 'utf8')).toMatch(/^# Rehearsal\n\n<!-- Rehearsed on 0 lines/)
    expect(turn.texts.at(-1)).toContain('I created `rehearsal.md`')
  })

  test('folders, links, hidden files, lock files and pictures are passed over', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    mkdirSync(dir.at('a.txt'))
    writeFileSync(dir.at('.env.md'), 'x')
    writeFileSync(dir.at('b.png'), 'x')
    writeFileSync(dir.at('c.json'), '{}')
    symlinkSync('/etc/passwd', dir.at('d.txt'))
    writeFileSync(dir.at("it's.ts"), 'export const a = 1\r\nexport const b = 2\r\n')
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go' })
    expect(turn.calls[1]).toMatchObject({ tool: 'read', input: { path: "it's.ts" } })
    expect(readFileSync(dir.at("it's.ts"), 'utf8')).toMatch(
      /^export const a = 1\r\n\/\/ Rehearsed on 2 lines, sha256 \w{8}\.\r\nexport const b = 2\r\n$/,
    )
    expect(turn.calls[3]!.result).toMatch(/^\d+ it's\.ts\n\[exit code 0\]$/)
  })

  test('a passage that occurs twice is made longer until it occurs once', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('a.py'), 'x = 1\nx = 1\nx = 1\n')
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go' })
    expect(turn.calls[2]!.result).toMatch(/^Edited /)
    expect(readFileSync(dir.at('a.py'), 'utf8')).toMatch(/^x = 1\nx = 1\nx = 1\n# Rehearsed on 3 lines/)
  })

  test('a file that cannot be read leads to a new one', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('a.txt'), '\n\n')
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Go' })
    expect(turn.calls.map((call) => call.tool)).toEqual(['list', 'read', 'write', 'bash'])
    expect(existsSync(dir.at('rehearsal.md'))).toBe(true)
  })

  test('a second prompt of the same conversation begins anew', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    writeFileSync(dir.at('notes.txt'), CONTENT)
    const play = { ...rehearsal, protocol, cwd: dir.path }
    const { history } = await playTurn({ ...play, prompt: 'Go' })
    const second = await playTurn({ ...play, prompt: 'Go on', history })
    expect(second.calls.map((call) => call.tool)).toEqual(['list', 'read', 'edit', 'bash'])
    expect(readFileSync(dir.at('notes.txt'), 'utf8').match(/Rehearsed/g)).toHaveLength(2)
  })

  test('the cue "run:" calls bash with that command, and then closes', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    const prompt = 'Hold on.\n  run: printf hi > out.txt \nThank you.'
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt })
    expect(turn.calls).toMatchObject([{ tool: 'bash', input: { command: 'printf hi > out.txt' } }])
    expect(readFileSync(dir.at('out.txt'), 'utf8')).toBe('hi')
    expect(turn.texts.at(-1)).toBe('I ran `printf hi > out.txt`. This was a rehearsal.')
  })

  test('the cue "run:" takes a refusal', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    const deny = { bash: 'too dangerous' }
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'run: rm -rf x', deny })
    expect(turn.texts.at(-1)).toContain('You did not allow the command `rm -rf x`. Your reason: “too dangerous”.')
  })

  test('the cue "slowly" counts to 600, 20 ms apart', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'Tell me slowly.' })
    expect(turn.calls).toEqual([])
    expect(turn.texts[0]!.match(/\d+/g)).toEqual(Array.from({ length: 600 }, (_, at) => String(at + 1)))
    expect(turn.deltas).toBeGreaterThanOrEqual(600)
    expect(new Set(rehearsal.clock.slept)).toEqual(new Set([20]))
  })

  test('without tools it says what it is', async () => {
    await using rehearsal = await startRehearsal()
    using dir = createTempDir()
    const turn = await playTurn({ ...rehearsal, protocol, cwd: dir.path, prompt: 'What is 2 + 2?', tools: false })
    expect(turn.texts).toEqual([expect.stringContaining('This is a rehearsal')])
  })
})

test('the command of the script asks for a permission and is harmless', () => {
  expect(classifyCommand("chmod u+w -- 'notes.txt' && wc -c -- 'notes.txt'").risk).toBe('medium')
  expect(classifyCommand("printf '%s\\n' 'Rehearsed.' >> rehearsal.md").risk).toBe('medium')
})
