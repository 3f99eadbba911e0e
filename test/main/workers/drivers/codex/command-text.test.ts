import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitQuoted, unwrapCommand } from '../../../../../src/main/workers/drivers/codex/command-text.ts'

/** As Codex quotes: bare where it can, else single quotes, double quotes around what holds one. */
function quote(word: string): string {
  if (/^[A-Za-z0-9_+\-./:@%=,]+$/.test(word)) return word
  const pieces = word.match(/[^']+|'+/g) ?? ['']
  return pieces.map((piece) => (piece.startsWith("'") ? `"${piece}"` : `'${piece}'`)).join('')
}
function quoteDouble(word: string): string {
  return `"${word.replaceAll(/[\\"$`]/g, (char) => `\\${char}`)}"`
}

test('a script behind bash -lc is what is judged', () => {
  expect(unwrapCommand("/bin/bash -lc 'touch x && echo made'")).toEqual({
    command: 'touch x && echo made',
    wrapper: '/bin/bash -lc',
  })
  // As the real CLI showed it.
  expect(unwrapCommand(`/bin/bash -lc "echo \\"it's "'$HOME" && sleep 300'`)).toEqual({
    command: `echo "it's $HOME" && sleep 300`,
    wrapper: '/bin/bash -lc',
  })
  expect(unwrapCommand('/bin/bash -lc ls')).toEqual({ command: 'ls', wrapper: '/bin/bash -lc' })
})

test.each([
  ['a second operand', "/bin/bash -lc 'ls' 'rm -rf /'"],
  ['no operand', '/bin/bash -lc'],
  ['another flag', "/bin/bash -xc 'ls'"],
  ['another shell', "/bin/zsh -lc 'ls'"],
  ['a shell found by name', "bash -lc 'ls'"],
  ['something after the words', "/bin/bash -lc 'ls'; rm -rf /"],
  ['an operator without a space', "/bin/bash -lc 'ls'&&rm"],
  ['an expansion that the quotes do not stop', '/bin/bash -lc "$(rm -rf /)"'],
  ['a backtick in double quotes', '/bin/bash -lc "`id`"'],
  ['a pattern outside quotes', '/bin/bash -lc ls*'],
  ['a variable outside quotes', '/bin/bash -lc $x'],
  ['an open quote', "/bin/bash -lc 'ls"],
  ['a line break between words', "/bin/bash -lc\n'ls'"],
  ['a NUL', "/bin/bash -lc 'ls\0x'"],
])('%s leaves a command as it is shown', (_what, shown) => {
  expect(unwrapCommand(shown)).toEqual({ command: shown, wrapper: null })
})

test('whatever script is quoted in either way, exactly it comes out', () => {
  const script = fc.string({ unit: 'binary' }).filter((text) => text !== '' && !text.includes('\0'))
  fc.assert(
    fc.property(script, (text) => {
      expect(splitQuoted(`/bin/bash -lc ${quote(text)}`)).toEqual(['/bin/bash', '-lc', text])
    }),
  )
  fc.assert(
    fc.property(
      script.filter((text) => !text.includes('\n')),
      (text) => {
        expect(splitQuoted(`/bin/bash -lc ${quoteDouble(text)}`)).toEqual(['/bin/bash', '-lc', text])
      },
    ),
  )
})
