/** A desktop start has a bare PATH; the person's login shell knows the real one. */
import { spawn } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { spawnEnv } from './env.ts'

const ASK_MS = 5_000
const ANSWER_CHARS = 65_536
/** Tells the answer from whatever the profile prints. */
const MARKER = 'wheelhouse-path'
const ANSWER = new RegExp(`^${MARKER}=(/.*)\\n`, 'm')

/**
 * Asks the login shell for PATH, that one variable, once. Null: no shell, no answer within 5 s, or none that looks like a
 * PATH; the caller keeps what it has. What a profile leaves running may hold the shell's output open: it is not waited for.
 */
export function loginShellPath(env: Readonly<Record<string, string>>, withinMs = ASK_MS): Promise<string | null> {
  const shell = env['SHELL']
  if (shell === undefined || !isAbsolute(shell)) return Promise.resolve(null)
  return new Promise((resolve) => {
    const child = spawn(shell, ['-l', '-i', '-c', `printf '\\n${MARKER}=%s\\n' "$PATH"`], {
      env: spawnEnv(env),
      stdio: ['ignore', 'pipe', 'ignore'],
      // Away from a terminal that the host may have: an interactive shell would want it.
      detached: true,
      signal: AbortSignal.timeout(withinMs),
      killSignal: 'SIGKILL',
    })
    let said = ''
    const finish = (): void => {
      child.stdout.destroy()
      resolve(ANSWER.exec(said)?.[1]?.trim() ?? null)
    }
    // It cannot be started, or takes too long.
    child.on('error', finish)
    child.stdout.once('close', finish)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-ANSWER_CHARS)
      if (ANSWER.test(said)) finish()
    })
  })
}
