/** A desktop start has a bare PATH; the person's login shell knows the real one. */
import { execFile } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { spawnEnv } from './env.ts'

const ASK_MS = 5_000
const ANSWER_BYTES = 65_536

/**
 * Asks the login shell for PATH, that one variable, once. Null: no shell, no answer within 5 s, or none that looks like a
 * PATH; the caller keeps what it has.
 */
export function loginShellPath(env: Readonly<Record<string, string>>): Promise<string | null> {
  const shell = env['SHELL']
  if (shell === undefined || !isAbsolute(shell)) return Promise.resolve(null)
  // A marker tells the answer from whatever the profile prints.
  const marker = 'wheelhouse-path'
  const args = ['-l', '-i', '-c', `printf '\\n${marker}=%s\\n' "$PATH"`]
  const options = { env: spawnEnv(env), timeout: ASK_MS, killSignal: 'SIGKILL', maxBuffer: ANSWER_BYTES } as const
  return new Promise((resolve) => {
    const child = execFile(shell, args, options, (_error, stdout) => {
      const answer = stdout.split('\n').findLast((line) => line.startsWith(`${marker}=`))
      const path = answer?.slice(marker.length + 1).trim() ?? ''
      resolve(path.startsWith('/') ? path : null)
    })
    child.stdin?.end()
  })
}
