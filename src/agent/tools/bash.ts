/** `bash`: a command in a shell of its own, whose environment names neither the model's route nor its key. */
import { stat } from 'node:fs/promises'
import { z } from 'zod'

import { childEnvironment } from '../environment.ts'
import { createBoundedOutput } from './bounded-output.ts'
import { displayPath, fileError, resolvePath } from './paths.ts'
import { runCommand } from './process-group.ts'
import type { AgentTool, PlannedCall, ToolOutcome } from './types.ts'
import { shownText, ToolError } from './types.ts'

const DEFAULT_TIMEOUT_MS = 10 * 60_000
const MAX_TIMEOUT_MS = 60 * 60_000
const HALF_OUTPUT_BYTES = 128 * 1024
const LIVE_BYTES = 16 * 1024
/** Live output is shown at most this often. */
const LIVE_EVERY_MS = 200

const Input = z.object({
  command: z.string().min(1).max(131_072).describe('Run by bash -c.'),
  cwd: z.string().min(1).max(4_096).default('.').describe('Folder to run in; the project folder by default.'),
  timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS).describe('10 minutes by default.'),
})

export const bashTool: AgentTool<z.infer<typeof Input>> = {
  name: 'bash',
  kind: 'execute',
  description: 'Run a shell command without a terminal. Answers its output, at most 256 KiB, and its exit code.',
  input: Input,
  async plan({ command, cwd, timeout_ms: timeoutMs }, workspace): Promise<PlannedCall> {
    const folder = await resolvePath(cwd, workspace)
    const kind = await stat(folder).catch((thrown: unknown) => {
      throw fileError(thrown, folder)
    })
    if (!kind.isDirectory()) throw new ToolError(`${folder} is no folder.`)
    const where = await displayPath(folder, workspace)
    return {
      title: where === '.' ? command : `${command} (in ${where})`,
      locations: [folder],
      action: { kind: 'command', command, cwd: folder, wrapper: null },
      preview: [],
      run: (signal, progress) => execute({ command, cwd: folder, timeoutMs }, signal, progress),
    }
  },
}

async function execute(
  call: { command: string; cwd: string; timeoutMs: number },
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<ToolOutcome> {
  const output = createBoundedOutput({ headBytes: HALF_OUTPUT_BYTES, tailBytes: HALF_OUTPUT_BYTES })
  let shownAt = 0
  let waiting: NodeJS.Timeout | undefined
  const show = (): void => {
    waiting = undefined
    shownAt = performance.now()
    progress(output.tail(LIVE_BYTES))
  }
  const onOutput = (chunk: Buffer): void => {
    output.push(chunk)
    waiting ??= setTimeout(show, Math.max(0, shownAt + LIVE_EVERY_MS - performance.now()))
  }
  const end = await runCommand({ ...call, env: childEnvironment(process.env), onOutput }, signal).finally(() =>
    clearTimeout(waiting),
  )
  const how = end.timedOut
    ? `[ended by its time limit of ${call.timeoutMs} ms]`
    : signal.aborted
      ? '[cancelled]'
      : end.exitCode === null
        ? `[killed by ${end.signal ?? 'a signal'}]`
        : `[exit code ${end.exitCode}]`
  const said = output.text()
  const text = said === '' || said.endsWith('\n') ? `${said}${how}` : `${said}\n${how}`
  return {
    text,
    shown: [shownText(text)],
    end: end.exitCode === 0 ? 'done' : 'command_failed',
    rawOutput: { exitCode: end.exitCode, signal: end.signal, timedOut: end.timedOut },
  }
}
