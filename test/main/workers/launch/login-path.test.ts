import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loginShellPath } from '../../../../src/main/workers/index.ts'
import { createTempDir } from '../../../support/dir.ts'

function shell(dir: ReturnType<typeof createTempDir>, script: string): Record<string, string> {
  const path = dir.at('shell')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o700)
  return { SHELL: path, PATH: '/usr/bin:/bin' }
}

describe("the login shell's PATH", () => {
  test('is what its profile makes of it, whatever else that prints', async () => {
    using dir = createTempDir()
    const env = shell(dir, 'echo "Welcome! wheelhouse-path=/not/this"; PATH=/opt/own/bin:$PATH; eval "$4"')
    expect(await loginShellPath(env)).toBe('/opt/own/bin:/usr/bin:/bin')
  })

  test('is left as it is where the shell says nothing, fails, or is not there', async () => {
    using dir = createTempDir()
    expect(await loginShellPath(shell(dir, 'exit 3'))).toBe(null)
    expect(await loginShellPath(shell(dir, 'printf "wheelhouse-path=relative\\n"'))).toBe(null)
    expect(await loginShellPath({ SHELL: '/no/such/shell', PATH: '/bin' })).toBe(null)
    expect(await loginShellPath({ PATH: '/bin' })).toBe(null)
  })

  test('is not waited for once it is said, whatever a profile leaves running', async () => {
    using dir = createTempDir()
    const env = shell(dir, `sleep 60 & echo $! > ${dir.at('pid')}; PATH=/opt/own/bin; eval "$4"`)
    expect(await loginShellPath(env, 30_000)).toBe('/opt/own/bin')
    // It would hold the shell's output open for a minute.
    process.kill(Number(readFileSync(dir.at('pid'), 'utf8')), 'SIGKILL')
  })

  test('is left as it is where the shell does not answer in time', async () => {
    using dir = createTempDir()
    expect(await loginShellPath(shell(dir, 'exec sleep 60'), 100)).toBe(null)
  })
})
