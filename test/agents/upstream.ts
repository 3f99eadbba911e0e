/** The scripted model server as a process of its own, and what it was asked. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('fake-upstream.mjs', import.meta.url))

export type Step = Record<string, unknown>
export interface UpstreamTurn {
  steps?: Step[]
  status?: number
  headers?: Record<string, string>
  usage?: Record<string, number>
  match?: Record<string, unknown>
}

export interface UpstreamRequest {
  path: string
  headers: Record<string, string>
  // The bodies of two protocols, looked at as they come.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

export interface Upstream extends AsyncDisposable {
  readonly port: number
  /** Appended to what is left of the script. */
  script(...turns: UpstreamTurn[]): Promise<void>
  /** Lets a `{ wait: name }` step go on. */
  release(name: string): Promise<void>
  /** Model requests alone, oldest first. */
  requests(): Promise<UpstreamRequest[]>
}

/** `seal`: what it keeps of its reasoning bears this name, and what bears another one is refused, as Providers do. */
export async function startUpstream(
  dir: string,
  turns: UpstreamTurn[] = [],
  { seal }: { seal?: string } = {},
): Promise<Upstream> {
  mkdirSync(dir, { recursive: true })
  const script = join(dir, 'script.json')
  // 426: Codex then uses HTTP at once. codex-acp asks for a title beside the conversation.
  const rules = [{ match: { model: 'gpt-5.6-luna' }, steps: [{ text: 'A title' }] }]
  writeFileSync(script, JSON.stringify({ wsStatus: 426, rules, turns, seal }))
  const child = spawn(process.execPath, [PROGRAM, '--port', '0', '--script', script, '--quiet'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const port = Number(line)
  const control = async (verb: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(
      `http://127.0.0.1:${port}/__fake/${verb}`,
      body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
    )
    return answer.json()
  }
  return {
    port,
    async script(...more) {
      await control('turns', { turns: more })
    },
    async release(name) {
      await control('release', { name })
    },
    async requests() {
      const records = (await control('requests')) as (UpstreamRequest & { rec: string; api?: string })[]
      return records.filter(({ rec, api }) => rec === 'request' && (api === 'responses' || api === 'messages'))
    },
    async [Symbol.asyncDispose]() {
      const left = once(child, 'exit')
      child.kill()
      await left
    },
  }
}
