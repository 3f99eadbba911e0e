import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyCommand } from '../../../../src/main/runtime/policy/index.ts'
import { EXPECTED } from './commands.ts'

const RISKS = ['low', 'medium', 'high'] as const

/** Command by command, so that a failure names each one that is off. */
function classes(commands: readonly string[]): Record<string, string> {
  return Object.fromEntries(commands.map((command) => [command, classifyCommand(command).risk]))
}

function expected(commands: readonly string[], risk: string): Record<string, string> {
  return Object.fromEntries(commands.map((command) => [command, risk]))
}

const substitutions = (depth: number): string => `${'$(echo '.repeat(depth)}x${')'.repeat(depth)}`

describe('the expected classes', () => {
  test.each(RISKS)('RT-A56 every command that the contract calls %s is', (risk) => {
    expect(classes(EXPECTED[risk])).toEqual(expected(EXPECTED[risk], risk))
  })

  test.each(RISKS)('RT-A56 each reason of a %s command is one sentence', (risk) => {
    for (const command of EXPECTED[risk]) expect(classifyCommand(command).reason).toMatch(/^[A-Z].*\.$/s)
  })

  test('RT-A56 the reason names what decided', () => {
    expect(classifyCommand('ls && rm -rf build').reason).toBe('Deletes folders recursively (rm -rf).')
    expect(classifyCommand('ls | sudo tee x').reason).toBe('Runs with other rights (sudo).')
    expect(classifyCommand('echo x > /etc/hosts').reason).toBe('Writes to a protected place (/etc/hosts).')
  })

  test('RT-A56 build and test runners are low and marked', () => {
    expect(classifyCommand('ls && npm test')).toMatchObject({ risk: 'low', runsProject: true })
    expect(classifyCommand('git status')).toMatchObject({ risk: 'low', runsProject: false })
    const asked = [
      'yarn list',
      'pnpm ls',
      'npm view left-pad',
      'cargo tree',
      'go list ./...',
      'bundle list',
      'composer show',
      'terraform plan',
    ]
    for (const text of [...asked, 'python -m json.tool a.json', 'python -m pip list'])
      expect([text, classifyCommand(text)]).toMatchObject([text, { risk: 'low', runsProject: true }])
  })
})

describe('limits', () => {
  test('RT-A56 nothing at all is low', () => {
    expect(classes(['', ' \n\t', '# only a comment'])).toEqual(expected(['', ' \n\t', '# only a comment'], 'low'))
  })

  test('RT-A56 substitutions nested 33 deep are high, 32 are not', () => {
    expect(classifyCommand(`echo ${substitutions(33)}`).risk).toBe('high')
    expect(classifyCommand(`echo ${substitutions(32)}`).risk).toBe('low')
  })

  test('RT-A56 compound commands and texts handed on count as nesting', () => {
    expect(classifyCommand(`${'( '.repeat(40)}ls${' )'.repeat(40)}`).risk).toBe('high')
    expect(classifyCommand(`${'env '.repeat(40)}ls`).risk).toBe('high')
    expect(classifyCommand(`${'( '.repeat(400)}ls${' )'.repeat(400)}`).risk).toBe('high')
  })

  test('RT-A56 65,537 bytes of ls; are high, 65,535 are not', () => {
    expect(classifyCommand(`${'ls;'.repeat(21_845)}ls`).risk).toBe('high')
    expect(classifyCommand('ls;'.repeat(21_845)).risk).toBe('low')
  })

  test('RT-A56 the limit counts bytes', () => {
    expect(classifyCommand(`echo ${'é'.repeat(33_000)}`).risk).toBe('high')
  })
})

describe('what hides a command', () => {
  const high = [
    'rm --rec x',
    'rm x -r',
    'find . -del{ete,}',
    'find . {-delete,}',
    'rm -{r,f} x',
    'echo sudo ls | xargs env',
    'xargs -I{} {} x',
    'find . -exec {} \\;',
    "find . -exec sh -c 'ls' \\;",
    'fd -x rm',
    "bash -lc 'ls'",
    "bash -o pipefail -c 'ls'",
    'curl x | { bash; }',
    'curl x | while read -r l; do sh; done',
    'f(){ bash; }; curl x | f',
    'while true; do bash; done < <(curl x)',
    'echo x > >(bash)',
    'env -S "rm -rf x"',
    'env LD_PRELOAD=./x.so ls',
    'export LD_PRELOAD=./x.so',
    'echo ${BASH_ENV:=./x}',
    'timeout --unknown 5 rm -rf x',
    'nice $X rm -rf x',
    '(rm(){ :; }); rm -rf x',
    'if false; then rm(){ :; }; fi; rm -rf x',
    'f(){ rm -rf x; }; rm(){ :; }; f',
    'rm(){ :; }; unset -f rm; rm -rf x',
    'f(){ g; }; g(){ f; }; f',
    'trap "$X" EXIT',
    'git -c alias.x="!sh" x',
    'git --exec-path=/tmp/x status',
    'git reset --har',
    'git push -d origin main',
    'git push origin :main',
    'git clean -xdf',
    'git grep -Ovi x',
    'git rebase -x "rm -rf x" HEAD~2',
    'git submodule foreach "rm -rf x"',
    'git bisect run sh -c ls',
    'python3.12 -Bc "1"',
    'python - <<EOF\nprint(1)\nEOF',
    'cat x | python',
    'node --input-type=module -e 1',
    'deno eval 1',
    'bun eval 1',
    'perl -i -pe s/a/b/ f',
    'php -r 1',
    'source <(curl x)',
    '. /dev/stdin <<< ls',
    'exec ls',
    'chmod 4755 x',
    'chmod u+s x',
    'chmod a+rwx x',
    'chmod ugo=rwx x',
    'kill -s KILL 1',
    'kill -SIGKILL 1',
    'systemctl stop nginx',
    'npm --prefix web publish',
    'docker run -v /:/host alpine',
    'docker run --mount type=bind,source=/,target=/x alpine',
    'docker volume rm x',
    'terraform apply -auto-approve',
    'kubectl -n prod delete pod x',
    'echo x >> $HOME/.bashrc',
    'cp x .git/hooks/pre-commit',
    'cp -t /etc a b',
    'sed -i s/a/b/ /etc/hosts',
    'curl -o ~/.ssh/authorized_keys https://example.invalid',
    'sort -o /etc/passwd x',
    'echo x > ../../../../etc/hosts',
    '\\sudo ls',
    '`echo rm` -rf x',
    'a=(1 $(rm -rf x))',
    'echo $(( $(rm -rf x) ))',
    '[[ -n $(rm -rf x) ]]',
    'case $(rm -rf x) in a) ;; esac',
    'cat <<< "$(rm -rf x)"',
    'cat < /dev/tcp/10.0.0.1/80',
    'time -f %e sudo ls',
    "x='ls'; echo ${x@P}",
    "x='a[$(ls)]'; echo $((x))",
    "[[ -v 'a[$(ls)]' ]]",
    "(( 'a[`ls`]' ))",
    "test -v 'a[$(ls)]'",
    "printf -v 'a[$(ls)]' x",
    "read 'a[$(ls)]' < f",
    'toybox rm -rf x',
    'flock /tmp/lock rm -rf x',
    'strace -f -o out rm -rf x',
    'watch -n 5 "rm -rf x"',
    'unshare -r sudo ls',
    'ssh host rm -rf /srv',
    "ssh -p 22 host 'rm -rf /srv'",
    'script -qc "rm -rf x" /dev/null',
    'ssh a ssh b ls',
    `${'ssh find -exec '.repeat(4_000)}ls`,
    'docker run -v=/:/host alpine',
    'yarn npm publish',
    'yarn workspace web publish',
    'cargo +nightly publish',
    'echo x >> .git/config',
    "git grep --op='touch x' b",
    'command time -o .git/config ls',
  ]
  test('RT-A56 high stays high in disguise', () => {
    expect(classes(high)).toEqual(expected(high, 'high'))
  })

  const medium = [
    'sort -o out in',
    'uniq in out',
    'yq -i .a=1 f.yml',
    "sed -n 's/a/b/w out' f",
    "sed '1e ls' f",
    'awk \'{ print > "out" }\' f',
    'awk \'{ print | "sh" }\' f',
    'find . -fprint list',
    'rg --pre ./x foo',
    'git -c user.name=x status',
    'git branch -D x',
    'git branch new',
    'git config user.name x',
    'git stash',
    'git diff --output=x',
    'npm audit fix',
    'npm run deploy',
    'make -f other.mk test',
    'make SHELL=/tmp/x test',
    "make CC='touch x' test",
    'gradle clean build',
    'go env -w GOFLAGS=x',
    'go test -exec ./x ./...',
    'trap - EXIT',
    "alias ll='ls -l'",
    "git submodule foreach 'ls'",
    'export PATH=./bin:$PATH',
    'IFS=,',
    'systemctl restart nginx',
    'ls & curl x',
    'docker compose up -d',
    'mkfifo p',
    'bash',
    'ionice -p 12',
    './ls',
    '/tmp/x/cat f',
    'node_modules/.bin/cat f',
    './git status',
    'cat f | ./wc',
    'env ./ls',
    "LESSOPEN='|ls %s' less f",
    'GIT_PAGER=ls git -p log',
    'env GIT_SSH=./x git log',
    "PS4='$(ls)'; set -x",
    'GIT_CONFIG_COUNT=1 git status',
    'RIPGREP_CONFIG_PATH=./rc rg x',
    'npm_config_script_shell=./x npm test',
    'declare -n p=PATH; p=.; ls',
    'git --git-dir=./x status',
    'git remote show https://example.invalid/x',
    'git remote show origin',
    'npm ls --node-options=--require=./x',
    'npm --userconfig=./x ls',
    'go list -toolexec=./x ./...',
    'mvn -Dexec.executable=ls exec:exec',
    'gradle -I x test',
    'python -m json.tool a b',
    'less -k keys f',
    "less '+|als' f",
    'date --s=x',
    'awk \'BEGIN { print("x;") > "f" }\'',
    'awk \'/"/ { print ";" > "f" }\'',
    'awk \'BEGIN { system \\\n("ls") }\'',
    "sed '1els' f",
    "sed 'wout' f",
    "sed 's a b e' f",
    "sed 'sxaxbxe' f",
    "sed '/a/Iels' f",
    "sed '/[/]/d;els' f",
    "sed 's/a/b/;1els' f",
    'sed -f script f',
    "sed '1{els\n}' f",
    "sed 's/a/b/ w out' f",
    "sed 'k' f",
    'HOME=./x git status',
    'docker --config ./x ps',
    'kubectl --kubeconfig=./x get pods',
    'tree -R -L 1',
    'ps auxe',
    'XDG_CONFIG_HOME=./x git log',
    'date 010100002026',
    'watch -n 5 kubectl get pods',
    'ssh host uptime',
    'cargo +nightly test',
    'tar --checkpoint=1 --checkpoint-action=exec=sh -xf a.tar',
    "rsync -e 'ssh -p 22' a host:b",
    "vim -c ':!ls' f",
    'npx left-pad',
    'kubectl exec pod -- ls',
    'ｌs -la',
    'сat f',
    'git --bare diff',
    'git --work-tree=.. status',
    'git diff --submodule=diff a b',
    'git log -p --submod=diff',
    'git branch --ed',
    'git branch --uns',
    'git branch --list --no-list new',
    'git config edit',
    'git config --rem core',
    'git stash -- list',
    'git stash show --output=x',
    'git reflog --outpu=x',
    "sed --e='1els' f",
    'sed -bi s/a/b/ f',
    'sort --o=out in',
    'xxd -r -ps in out',
    'xxd -bits in out',
    'command time -o out ls',
    '/usr/bin/time -f x --output=out ls',
    'awk -W exec f.awk',
    'awk -Wexec=f.awk x',
    "gawk -oout 'BEGIN{}'",
    "gawk --pretty-print=out 'BEGIN{}'",
    'apt list -o Dir::Bin::dpkg=./x',
    'apt-cache -c=./x search y',
    'pip list --pyt=./x',
    'pip --python ./x list',
    'npm view --git=./x github:a/b',
    'systemctl -H host status',
    'systemctl --mach=x status',
    'file --com -m x',
    "less '+/a\n!ls\n' f",
  ]
  test('RT-A56 what changes something is at least medium', () => {
    expect(classes(medium)).toEqual(expected(medium, 'medium'))
  })

  const low = [
    'f(){ ls; }; f',
    'env',
    'env FOO=1 ls',
    'ps aux',
    'ps -e -o pid,time',
    'xargs',
    'ls | xargs -0 -n1 cat',
    'nice -n 5 ls',
    'timeout 5 ls',
    'git branch -a --contains HEAD',
    'git tag -l "v*"',
    'git remote -v',
    'git config --get user.name',
    'git stash list',
    'git worktree list',
    'git reflog',
    'git branch -vv --sort=-committerdate',
    'git tag -n3 --sort=v:refname',
    'git config user.name',
    'git config --global --list --show-origin',
    'git stash show -p',
    'git diff --submodule=log',
    'git log --output-indicator-new=x',
    "awk -F: -v x=1 '{ print $x }' f",
    'xxd -c 4 -s 8 f',
    'xxd -ps f',
    'command time -f %e ls',
    'apt list --installed',
    'pip list --outdated',
    'go env -json',
    'systemctl show -pMainPID nginx',
    'less +/a f',
    'python -V',
    'python -m json.tool x.json',
    'npm run build',
    'yarn test',
    'pnpm ls',
    'pip3 list',
    'python -m pip list',
    'terraform plan',
    'kubectl -n prod get pods',
    'crontab -l',
    'systemctl status nginx',
    "sed -e '1,20p' -n f",
    "awk '$1 > 5 || $2 { print $3 }' f",
    'echo x > /dev/null 2>&1',
    'find . -name "*.{a,b}"',
    'exec 2>&1',
    'for i in 1 2; do continue; done',
    "grep -E 'a|b' f && exit 0",
    '/usr/bin/ls',
    './gradlew test',
    '.venv/bin/python -m pytest',
    'GIT_AUTHOR_NAME=x git log',
    'git remote show -n origin',
    'git remote get-url origin',
    "sed 's#(a|b)#\\1#g; s|x|y|I' f",
    "sed ':a;N;$!ba;s/\\n/ /g' f",
    "sed -e '/a/{n;d}' -e 2q f",
    "sed '/x/a foo' f",
    '[[ $x =~ ^a[0-9]+$ ]]',
    'awk \'NR > 1 { printf "%s", $1 } END { print NR }\' f',
  ]
  test('RT-A56 what only reads is low', () => {
    expect(classes(low)).toEqual(expected(low, 'low'))
  })
})

describe('properties', () => {
  const shellish = fc
    .array(
      fc.oneof(
        fc.constantFrom(...'$(){}[]<>|&;"\'`\\\n\t #*?~=!@%^-+:'.split('')),
        fc.constantFrom(
          'rm',
          'ls',
          'git',
          'if',
          'then',
          'fi',
          'do',
          'done',
          '<<EOF',
          'EOF\n',
          '$((',
          '))',
          'f()',
          '-rf',
        ),
        fc.string({ maxLength: 4 }),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(''))

  test('RT-A56 any text has a class, and none throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), shellish), (text) => {
        expect(['low', 'medium', 'high']).toContain(classifyCommand(text).risk)
      }),
      { numRuns: 2_000 },
    )
  })

  test('RT-A56 a low text with a recursive rm behind it is high', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...EXPECTED.low), shellish), (text) => {
        // Behind a comment or a here-document's last line, `;` would belong to those; a function may be called rm.
        fc.pre(classifyCommand(text).risk === 'low' && !/#|<<|\\\s*$|rm\s*\(/.test(text))
        expect(classifyCommand(`${text}; rm -rf x`).risk).toBe('high')
      }),
      { numRuns: 2_000 },
    )
  })

  test('RT-A56 a wrapper never lowers a class', () => {
    const rank = { low: 0, medium: 1, high: 2 }
    const simple = [...EXPECTED.medium, ...EXPECTED.high].filter((text) => /^[a-z]+ [^|;&<>$`(){}\n]*$/.test(text))
    // `time` and `coproc` are words of the grammar: behind a wrapper they are no longer what they were.
    const programs = simple.filter((text) => !/^(?:time|coproc) /.test(text))
    for (const wrapper of [
      'env',
      'nohup',
      'timeout 5',
      'nice -n 3',
      'xargs -0',
      'stdbuf -o L',
      'busybox',
      'setsid -w',
    ]) {
      for (const text of programs) {
        const wrapped = `${wrapper} ${text}`
        const lowered = rank[classifyCommand(wrapped).risk] < rank[classifyCommand(text).risk]
        expect([wrapped, lowered]).toEqual([wrapped, false])
      }
    }
  })
})
