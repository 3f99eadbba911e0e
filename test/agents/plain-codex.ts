/** Codex as a person starts it, with nothing of Wheelhouse around. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const PROGRAM = 'codex'
const ANSWER_MS = 60_000

interface Reply {
  id?: number
  result?: unknown
  error?: { message: string }
}

/** Asks the app-server one thing after the handshake, and ends it. */
export async function askPlainCodex(
  env: Readonly<Record<string, string>>,
  method: string,
  params: object,
): Promise<unknown> {
  const child = spawn(PROGRAM, ['app-server'], { env: { ...env }, stdio: ['pipe', 'pipe', 'ignore'] })
  const left = once(child, 'exit')
  const late = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  const answerTo = async (id: number): Promise<unknown> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`codex left before it answered ${method}`)
      const reply = JSON.parse(value) as Reply
      if (reply.id !== id) continue
      if (reply.error !== undefined) throw new Error(reply.error.message)
      return reply.result
    }
  }
  try {
    const clientInfo = { name: 'plain', title: null, version: '1' }
    send({ id: 1, method: 'initialize', params: { clientInfo, capabilities: null } })
    await answerTo(1)
    send({ method: 'initialized' })
    send({ id: 2, method, params })
    return await answerTo(2)
  } finally {
    child.stdin.end()
    await left
    clearTimeout(late)
  }
}

/** `codex exec resume` with one prompt on a model server; answers what it printed. */
export async function resumePlainCodex(options: {
  env: Readonly<Record<string, string>>
  cwd: string
  threadId: string
  prompt: string
  port: number
}): Promise<string> {
  const { env, cwd, threadId, prompt, port } = options
  const config = `openai_base_url="http://127.0.0.1:${port}/v1"`
  const args = ['exec', 'resume', '--skip-git-repo-check', '-c', config, threadId, prompt]
  const asked = promisify(execFile)(PROGRAM, args, { env: { ...env }, cwd, timeout: ANSWER_MS, killSignal: 'SIGKILL' })
  // It reads what is piped in beside the prompt, until the end.
  asked.child.stdin?.end()
  return (await asked).stdout
}
