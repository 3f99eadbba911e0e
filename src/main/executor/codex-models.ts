/** What the installed Codex knows of models by itself: asked of the program, for a Codex that has not been run yet. */
import { execa } from 'execa'
import type { Log } from '../platform/index.ts'
import { BASE_ENV, buildEnv, findProgram } from '../workers/index.ts'

const ANSWER_MS = 10_000
/** Each model comes with its instructions, some 20 KB. */
const ANSWER_BYTES = 16 * 1_024 * 1_024

/** The JSON that `codex debug models --bundled` prints; null: no Codex, or one that does not know the question. */
export async function bundledCodexModels(
  deps: { log: Log; hostEnv(name: string): string | undefined },
  signal: AbortSignal,
): Promise<unknown> {
  const env = buildEnv(BASE_ENV, deps.hostEnv, {})
  const program = await findProgram('codex', env['PATH'])
  if (program === null) return null
  const { stdout, failed } = await execa(program, ['debug', 'models', '--bundled'], {
    env,
    extendEnv: false,
    stdin: 'ignore',
    stderr: 'ignore',
    timeout: ANSWER_MS,
    killSignal: 'SIGKILL',
    maxBuffer: ANSWER_BYTES,
    reject: false,
    cancelSignal: signal,
  })
  try {
    if (!failed) return JSON.parse(stdout)
  } catch {
    // Said below.
  }
  deps.log.info('the installed Codex does not tell which models it knows')
  return null
}
