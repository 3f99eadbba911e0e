/** A desktop start has a bare PATH; the person's login shell knows the real one. */
import { isAbsolute } from 'node:path'
import { execa } from 'execa'
import { spawnEnv } from './env.ts'

const ASK_MS = 5_000
const ANSWER_BYTES = 65_536

/**
 * Asks the login shell for PATH, that one variable, once. Null: no shell, no answer within 5 s, or none that looks like a
 * PATH; the caller keeps what it has.
 */
export async function loginShellPath(env: Readonly<Record<string, string>>): Promise<string | null> {
  const shell = env['SHELL']
  if (shell === undefined || !isAbsolute(shell)) return null
  // A marker tells the answer from whatever the profile prints.
  const marker = 'wheelhouse-path'
  const { stdout }: { stdout?: string } = await execa(
    shell,
    ['-l', '-i', '-c', `printf '\\n${marker}=%s\\n' "$PATH"`],
    {
      env: spawnEnv(env),
      extendEnv: false,
      stdin: 'ignore',
      stderr: 'ignore',
      timeout: ASK_MS,
      killSignal: 'SIGKILL',
      maxBuffer: ANSWER_BYTES,
      reject: false,
    },
  )
  // A shell that cannot be started has said nothing.
  const answer = (stdout ?? '').split('\n').findLast((line) => line.startsWith(`${marker}=`))
  const path = answer?.slice(marker.length + 1).trim() ?? ''
  return path.startsWith('/') ? path : null
}
