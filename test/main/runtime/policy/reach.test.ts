import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { evaluate, onDisk } from '../../../../src/main/runtime/policy/index.ts'
import { followLinks } from '../../../../src/main/runtime/policy/links.ts'
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
  return evaluate(policy, whole, { dataDir, rules: [], home, ...onDisk }).effect
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
    'sha256sum -c list',
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

describe('RT-A57 a look at a repository whose own settings start a program', () => {
  const LOOKS = ['git status', 'git diff --stat', 'git show HEAD', 'ls && git log -p', 'nice git -C . blame a.txt']
  const both = (text: string, where: Place): string[] => [run('agent', text, where), run('plan', text, where)]
  const settings = (where: Place, text: string, ...folder: string[]): void => {
    const dir = join(where.root, ...folder)
    mkdirSync(join(dir, 'objects'), { recursive: true })
    mkdirSync(join(dir, 'refs'), { recursive: true })
    mkdirSync(join(dir, 'hooks'), { recursive: true })
    writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(dir, 'config'), text)
  }
  test.each([
    '[diff]\nexternal = ./x',
    '[DIFF "pdf"] TextConv = ./x',
    '[diff.pdf]\ncommand=./x',
    '[core]\nfsmonitor = ./x',
    '[core]\npager = ./x',
    '[pager]\ndiff = ./x',
    '[filter "x"]\nclean = ./x',
    '[filter "a\\"] b"]\nprocess = ./x',
    '[gpg "ssh"]\nprogram = ./x',
    '[user]\nname = a\\\n[diff]\nexternal = ./x\n[diff]\nexternal = ./x',
    '[remote "origin"]\npromisor = true',
    '[include]\npath = ../x',
    '[includeIf "gitdir:/"]\npath = ../x',
    '[core]\nworktree = /',
    '[core]\nhooksPath = ~/x',
    '[core]\nhooksPath = a\tb',
    '[core]\nhooksPath = a\\\n b',
    '[filter "a\u2028b"]\nclean = ./x',
    '[diff "a\u2029b"]\ncommand = ./x',
    '[merge "x"]\ndriver = ./x',
    '[man "x"]\ncmd = ./x',
    '[browser "x"]\ncmd = ./x',
    '[diff]\nsubmodule = diff',
    '[core]\n# a \\\nfsmonitor = ./x',
    '[core]\nx = 1 # a \\\n',
    '[core]\n= 1',
    '[extensions]\nobjectFormat = sha256',
    `[core]\nx = ${'1'.repeat(70_000)}`,
  ])('is asked and, in plan, refused: %j', (text) => {
    using where = place()
    settings(where, text, '.git')
    for (const look of LOOKS) expect([look, ...both(look, where)]).toEqual([look, 'ask', 'block'])
    expect(run('yolo', 'git status', where)).toBe('allow')
    expect(both('ls', where)).toEqual(['allow', 'allow'])
  })

  test('is let through where they start none', () => {
    using where = place()
    settings(
      where,
      '[core]\n\tbare = false\n\tfsmonitor = true\n\thooksPath = .husky/_\n[user] name = me # x\n',
      '.git',
    )
    for (const look of LOOKS) expect([look, ...both(look, where)]).toEqual([look, 'allow', 'allow'])
    settings(where, '[core]\n\tfsmonitor = true\r\n[remote "origin"]\n\turl = "a#b"\n', '.git')
    expect(both('git status', where)).toEqual(['allow', 'allow'])
    settings(where, '\uFEFF[core]\nbare = false\nsshCommand = ssh -i x\n[credential]\nhelper = x', '.git')
    expect(both('git status', where)).toEqual(['allow', 'allow'])
  })

  test('counts wherever Git finds them: above, in a worktree, in a folder that is a repository itself', () => {
    using where = place()
    const evil = '[core]\nfsmonitor = ./x'
    settings(where, '', '.git')
    settings(where, evil, 'src', 'bare')
    expect(both('git status', where)).toEqual(['allow', 'allow'])
    for (const look of [
      'cd src/bare && git status',
      'git -C src/bare log',
      'env -Csrc/bare git log',
      'cd src; git -C bare log',
    ])
      expect([look, ...both(look, where)]).toEqual([look, 'ask', 'block'])
    for (const look of [
      'cd s*/bare && git status',
      'find . -execdir git status \\;',
      'ls | xargs -I{} git -C {} status',
    ])
      expect([look, ...both(look, where)]).toEqual([look, 'ask', 'block'])
    mkdirSync(join(where.root, 'tree'))
    writeFileSync(join(where.root, 'tree', '.git'), 'gitdir: ../.git/worktrees/tree\n')
    mkdirSync(join(where.root, '.git', 'worktrees', 'tree'), { recursive: true })
    writeFileSync(join(where.root, '.git', 'worktrees', 'tree', 'commondir'), '../..\n')
    expect(both('cd tree && git diff', where)).toEqual(['allow', 'allow'])
    writeFileSync(join(where.root, '.git', 'worktrees', 'tree', 'config.worktree'), evil)
    expect(both('cd tree && git diff', where)).toEqual(['ask', 'block'])
    settings(where, '[core]\nworktree = ../..', '.git', 'modules')
    writeFileSync(join(where.root, 'deep', '.git'), 'gitdir: ../.git/modules\n')
    expect(both('cd deep && git diff', where)).toEqual(['ask', 'block'])
    settings(where, '[core]\nworktree = ../../deep', '.git', 'modules')
    expect(both('cd deep && git diff', where)).toEqual(['allow', 'allow'])
    settings(where, evil, '.git')
    expect(both('git -C src status', where)).toEqual(['ask', 'block'])
    expect(both('git -C tree status', where)).toEqual(['ask', 'block'])
  })

  test('counts where Git passes by what it takes for no repository, or is led by a link', () => {
    using where = place()
    const evil = '[diff]\nexternal = ./x'
    const at = (...parts: string[]): string => join(where.root, ...parts)
    const inSub = (): string =>
      effect('agent', { action: { kind: 'command', command: 'git diff', cwd: at('sub'), wrapper: null } }, where)
    settings(where, evil, '.git')
    mkdirSync(at('sub', '.git'), { recursive: true })
    expect(inSub()).toBe('ask')
    settings(where, '', 'sub', '.git')
    expect(inSub()).toBe('allow')
    rmSync(at('sub', '.git', 'HEAD'))
    symlinkSync(at('a.txt'), at('sub', '.git', 'HEAD'))
    writeFileSync(at('a.txt'), 'ref: refs/heads/main\n')
    expect(inSub()).toBe('ask')

    settings(where, '', '.git')
    settings(where, evil, 'hidden')
    mkdirSync(at('bare'))
    writeFileSync(at('bare', 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(at('bare', 'commondir'), '../hidden\n')
    expect(both('git -C bare log', where)).toEqual(['ask', 'block'])

    settings(where, evil, 'src', 'repo', '.git')
    mkdirSync(at('src', 'repo', 'inner'))
    symlinkSync('src/repo/inner', at('inside'))
    expect(both('cd inside && git diff', where)).toEqual(['ask', 'block'])
    settings(where, '', 'plain')
    writeFileSync(at('deep', '.git'), 'gitdir: ../inside/../../plain')
    settings(where, evil, 'src', 'plain')
    expect(both('git -C deep log', where)).toEqual(['ask', 'block'])
  })

  test('counts where a name is no text, or its hooks depend on which settings hold', () => {
    using where = place()
    const at = (...parts: string[]): string => join(where.root, ...parts)
    for (const bytes of [Buffer.from('gitdir: a\0b'), Buffer.from('gitdir: a\xff', 'latin1')]) {
      writeFileSync(at('src', '.git'), bytes)
      expect(both('git -C src log', where)).toEqual(['ask', 'block'])
    }
    const hook = (folder: string): void => {
      mkdirSync(at(folder))
      writeFileSync(at(folder, 'post-index-change'), '')
    }
    settings(where, '[core]\nhooksPath = other\u00a0', '.git')
    expect(both('git status', where)).toEqual(['allow', 'allow'])
    hook('other\u00a0')
    expect(both('git status', where)).toEqual(['ask', 'block'])
    settings(where, '[core]\nhooksPath = first', '.git')
    writeFileSync(at('.git', 'config.worktree'), '[core]\nhooksPath = second')
    expect(both('git status', where)).toEqual(['allow', 'allow'])
    hook('first')
    expect(both('git status', where)).toEqual(['ask', 'block'])
  })

  test('counts in a folder that a cluster of options leads to', () => {
    using where = place()
    settings(where, '[core]\nfsmonitor = ./x', 'src', '.git')
    expect(both('env -iC src git status', where)).toEqual(['ask', 'block'])
    expect(both('env -C.. cat x.txt', where)).toEqual(['ask', 'block'])
  })

  test('so does the hook of a refreshed index, and a repository that the index takes for a submodule', () => {
    using where = place()
    settings(where, '', '.git')
    settings(where, '[core]\nfsmonitor = ./x', 'src', '.git')
    const index = (version: number, mode: number): Buffer => {
      const entry = Buffer.alloc(72)
      entry.writeUInt32BE(mode, 24)
      entry.write('\0src\0', 62 - 1, 'latin1')
      return Buffer.concat([Buffer.from(`DIRC\0\0\0${String.fromCharCode(version)}\0\0\0\x01`, 'latin1'), entry])
    }
    const write = (bytes: Buffer): void => writeFileSync(join(where.root, '.git', 'index'), bytes)
    write(index(2, 0o100644))
    expect(both('git status', where)).toEqual(['allow', 'allow'])
    write(index(2, 0o160000))
    expect(both('git status', where)).toEqual(['ask', 'block'])
    write(index(4, 0o160000).subarray(0, 40))
    expect(both('git status', where)).toEqual(['ask', 'block'])
    write(index(2, 0o100644))
    writeFileSync(join(where.root, '.git', 'hooks', 'post-index-change'), '')
    expect(both('git status', where)).toEqual(['ask', 'block'])
  })
})

describe('RT-A56 no text of 64 KiB keeps the host for long', () => {
  // Most took minutes once: the time of a test is bound enough.
  test.each([
    ['many words', `cat ${'a '.repeat(32_000)}`],
    ['a deep path', `cat ${'/a'.repeat(30_000)}`],
    ['many ways up', `cat ${'a/../'.repeat(13_000)}`],
    ['brackets that nothing closes', `cat /tmp/${'['.repeat(64_000)}`],
    ['brackets in a script', `sed '/${'['.repeat(64_000)}/p'`],
    ['subscripts that nothing closes', `export x${'['.repeat(64_000)}`],
    [
      'many patterns',
      `cat ${Array.from({ length: 500 }, (_, at) => `{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}${at}`).join(' ')}`,
    ],
    ['many prints', `awk '${'print '.repeat(10_000)}'`],
  ])('%s', (_name, text) => {
    using where = place()
    expect(['allow', 'ask']).toContain(run('agent', text, where))
  })

  test('and what is not looked at for that is asked', () => {
    using where = place()
    expect(run('agent', `cat ${'src/../'.repeat(100)}deep/er/../../x`, where)).toBe('ask')
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
