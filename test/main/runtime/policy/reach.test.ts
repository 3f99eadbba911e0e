import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { evaluate, followLinks } from '../../../../src/main/runtime/policy/index.ts'
import type { PolicyCall } from '../../../../src/main/runtime/policy/index.ts'
import type { Mode } from '../../../../src/shared/vocabulary.ts'
import { createTempDir } from '../../../support/dir.ts'

interface Place {
  root: string
  dataDir: string
  home: string
}

/** A project beside a foreign folder and the data folder, with links into both. */
function place() {
  const dir = createTempDir()
  const at = (...parts: string[]): string => join(dir.path, ...parts)
  for (const folder of ['work/src', 'outside', 'home/.wheelhouse/providers']) mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('work', 'a.txt'), 'a')
  writeFileSync(at('outside', 'x.txt'), 'x')
  symlinkSync(at('outside'), at('work', 'away'))
  symlinkSync(at('outside', 'x.txt'), at('work', 'src', 'x.txt'))
  symlinkSync(at('home', '.wheelhouse'), at('work', 'own'))
  symlinkSync('src', at('work', 'same'))
  mkdirSync(at('work', 'deep'))
  symlinkSync('../src', at('work', 'deep', 'er'))
  symlinkSync(at('outside', 'not-there'), at('work', 'dangling'))
  return {
    root: at('work'),
    dataDir: at('home', '.wheelhouse'),
    home: at('home'),
    [Symbol.dispose]: dir[Symbol.dispose],
  }
}

function effect(mode: Mode, call: Partial<PolicyCall>, { root, dataDir, home }: Place): string {
  const whole: PolicyCall = { kind: 'execute', toolName: 'bash', action: null, complete: true, locations: [], ...call }
  const policy = { mode, unattended: false, sandbox: 'none' as const, roots: [root] }
  return evaluate(policy, whole, { dataDir, rules: [], home, follow: followLinks }).effect
}

const run = (mode: Mode, text: string, where: Place): string =>
  effect(mode, { action: { kind: 'command', command: text, cwd: where.root, wrapper: null } }, where)

describe('RT-A57 a command that only reads', () => {
  test.each([
    'a=/etc; cat $a/shadow',
    'a=/etc/shadow; cat "$a"',
    'cat $(echo /etc/shadow)',
    'cat `echo /etc/shadow`',
    'cat {/etc,/x}/shadow',
    'cat ~root/.ssh/id_rsa',
    'cat ${HOME%x}/.ssh/id_rsa',
    'cat "${PWD%/*}"/x',
    'cat .*/x',
    'cat < $x',
    'grep -f /etc/shadow x',
    'cd && cat .ssh/id_rsa',
    'cd - && cat x',
    'HOME=/etc; cat ~/shadow',
    'CDPATH=/ cd etc && cat shadow',
    'f() { cat "$1"; }; f etc',
    'for f in /etc/*; do cat $f; done',
    'while read -r f; do cat "$f"; done < list',
    'read a <<< /etc/shadow; cat $a',
    'xargs cat < list',
    'echo /etc/shadow | xargs cat',
    'find . -printf /etc/shadow | xargs cat',
    "sed 'r /etc/shadow' a.txt",
    "sed -n 's/x/y/;R/etc/shadow' a.txt",
    `awk '{while((getline l < "/etc/shadow")>0) print l}'`,
    'wc --files0-from=list',
    'grep -R x .',
    'timeout 5 grep -R x .',
    'find -L . -name x',
    'rg -L x',
    'tree -l',
    'diff -r src same',
    "bash -c 'cat $x'",
    'xargs -a list cat',
    'grep -nf/etc/shadow a.txt',
    'yq \'load("/etc/shadow")\' a.yml',
    '/opt/x/npm test',
    '../npm test',
  ])('is asked and, in plan, refused where nobody can see what it reads: %s', (text) => {
    using where = place()
    expect([text, run('agent', text, where), run('plan', text, where)]).toEqual([text, 'ask', 'block'])
    expect(run('yolo', text, where)).toBe('allow')
  })

  test.each([
    'cat a.txt',
    'ls -la src',
    'cat same/a.txt',
    'head -n 5 *.txt',
    'git log --oneline | head',
    'grep -rn foo src',
    'grep -n "/etc/shadow" a.txt',
    'rg foo src | head -20',
    'find . -name "*.ts" | xargs grep -n foo',
    "sed -n '/render/p' a.txt",
    "sed 's/render/Read/' a.txt",
    'echo "$HOME" && pwd',
    'ls src/{a,b}.ts',
    'cat "$PWD/a.txt"',
    'test -n "$X" && echo 1',
    "sed -n '1,20p' README.md",
    "sed -e '/x/d' a.txt",
    'cut -d/ -f1 a.txt',
  ])('is let through where all of it is spelled out: %s', (text) => {
    using where = place()
    expect([text, run('agent', text, where), run('plan', text, where)]).toEqual([text, 'allow', 'allow'])
  })
})

describe('RT-A57 links of the project', () => {
  test.each([
    'cat away/x.txt',
    'cat src/x.txt',
    'cat aw*/x.txt',
    'cat */x.txt && true',
    'cat {away,b}/x.txt',
    'cat < away/x.txt',
    'cd away && cat x.txt',
    'cat ./away/../a.txt',
    'cat deep/er/../../x',
  ])('that lead out of its folders make reading a question: %s', (text) => {
    using where = place()
    expect([text, run('agent', text, where)]).toEqual([text, text.includes('*/x.txt &') ? 'block' : 'ask'])
    expect(run('plan', text, where)).toBe('block')
  })

  test.each(['cat own/installation.json', 'cat ow?/installation.json', 'ls own/providers', 'cat own/../.wheelhouse/x'])(
    'that lead into the data folder are held off in every mode: %s',
    (text) => {
      using where = place()
      const modes: Mode[] = text.includes('..') ? ['plan'] : ['plan', 'agent', 'yolo', 'os']
      for (const mode of modes) expect([mode, run(mode, text, where)]).toEqual([mode, 'block'])
    },
  )

  test('count for an edit as well, also where they lead to nothing yet', () => {
    using where = place()
    const edit = (path: string): Partial<PolicyCall> => ({
      kind: 'edit',
      action: { kind: 'edit', changes: [{ path, oldText: null, newText: 'b' }] },
    })
    expect(effect('plan', edit('away/new.txt'), where)).toBe('block')
    expect(effect('yolo', edit('own/settings.json'), where)).toBe('block')
    expect(followLinks(join(where.root, 'dangling'))).toEqual([join(where.root, '..', 'outside', 'not-there')])
    expect(followLinks(join(where.root, 'a.txt'))).toEqual([])
  })

  test('that the session’s own folder lies behind change nothing', () => {
    using where = place()
    const linked = join(where.root, 'same')
    expect(run('agent', 'cat a.txt', { ...where, root: linked })).toBe('allow')
  })
})

test('a folder that holds the data folder is not searched through unasked', () => {
  using where = place()
  const home = { ...where, root: where.home }
  expect(run('agent', 'grep -rn key .', home)).toBe('ask')
  expect(run('agent', 'rg key', home)).toBe('ask')
  expect(run('agent', 'cat notes.txt', home)).toBe('allow')
  expect(effect('agent', { kind: 'search', locations: [where.home] }, home)).toBe('ask')
  expect(effect('agent', { kind: 'search', locations: [where.root] }, where)).toBe('allow')
})
