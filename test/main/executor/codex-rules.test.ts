import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import fc from 'fast-check'
import { codexRules } from '../../../src/main/executor/index.ts'
import { createTempDir } from '../../support/dir.ts'

async function rulesOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  using dir = createTempDir()
  mkdirSync(dir.at('rules'))
  for (const [name, text] of Object.entries(files)) writeFileSync(dir.at('rules', name), text)
  return await codexRules(dir.path)
}

test('what the rules of the person allow is named, as Codex itself writes it and as people do', async () => {
  const text = `
    prefix_rule(pattern=["touch", "/root/out side.txt"], decision="allow")
    prefix_rule(
      pattern = ["git", ["status", 'log']],  # reads alone ) "
      match = [["git", "status"], "git log (all)"],
    )
    # prefix_rule(pattern=["commented"], decision="allow")
    prefix_rule(pattern=["rm"], decision="forbidden")
    prefix_rule(pattern=["curl"], decision = "prompt")
    prefix_rule(pattern=["say", "a \\"b\\" ]"])
    prefix_rule(pattern=[])
    host_executable(name="git", paths=["/usr/bin/git"])
  `
  expect(await rulesOf({ 'default.rules': text, 'notes.txt': 'prefix_rule(pattern=["no"])' })).toEqual([
    'touch /root/out side.txt',
    'git status|log',
    'say a "b" ]',
  ])
})

test('where there are none nothing is named; a link of the person’s own is followed', async () => {
  using dir = createTempDir()
  expect(await codexRules(dir.at('nowhere'))).toEqual([])
  mkdirSync(dir.at('rules'))
  writeFileSync(dir.at('elsewhere'), 'prefix_rule(pattern=["x"])')
  expect(await codexRules(dir.path)).toEqual([])
  symlinkSync(dir.at('elsewhere'), dir.at('rules', 'a.rules'))
  expect(await codexRules(dir.path)).toEqual(['x'])
})

test('no text makes it fail, or take long', async () => {
  const piece = fc.constantFrom(
    'prefix_rule(',
    'pattern=[',
    '"',
    "'",
    '\\',
    ']',
    ')',
    '#',
    '\n',
    'decision="allow"',
    'a',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      expect(Array.isArray(await rulesOf({ 'x.rules': pieces.join('') }))).toBe(true)
    }),
    { numRuns: 50 },
  )
  // Quadratic, these would not end within the test's own time.
  await rulesOf({ 'x.rules': `prefix_rule(pattern=[${'"a",'.repeat(100_000)}` })
  await rulesOf({ 'x.rules': 'prefix_rule(\n'.repeat(50_000) })
  await rulesOf({ 'x.rules': `${'\\"'.repeat(500)}\n`.repeat(500) })
})
