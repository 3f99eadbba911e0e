/**
 * A session of each real agent that moves, in the middle of a turn, between two Providers. Each of them refuses whatever
 * the other one sealed, as Providers do. Afterwards Wheelhouse goes, and the plain agent goes on by itself.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bash as claudeBash } from './claude-session.ts'
import { describeWithAgent } from './installed.ts'
import { filesWith, holds, processesWith } from './leaks.ts'
import { askPlainCodex, resumePlainCodex } from './plain-codex.ts'
import { createRealHost, MODEL } from './real-host.ts'
import type { RealAgent, RealHost, Talk } from './real-host.ts'
import { startUpstream } from './upstream.ts'
import type { Step, Upstream } from './upstream.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000 })

const KEYS = ['sk-key-of-the-first-that-nobody-else-may-see', 'sk-key-of-the-second-that-nobody-else-may-see'] as const
/** What a curious command can look at: its environment, its descriptors, and those of the agent that runs it. */
const LOOK = [
  'env',
  'ls -l /proc/self/fd',
  "tr '\\0' '\\n' < /proc/$PPID/environ",
  'echo "fd three: $(timeout 2 head -c 4096 /proc/$PPID/fd/3 2>/dev/null | tr -d "\\0")."',
].join('; ')

const command: Record<RealAgent, (cmd: string) => Step> = {
  codex: (cmd) => ({ toolCall: { name: 'exec_command', input: { cmd } } }),
  claude: claudeBash,
}
const think = (reasoning: string): Step => ({ reasoning })
const say = (text: string): Step => ({ text })

const agents = [
  ['codex', 'Codex'],
  ['claude', 'Claude Code'],
] as const

for (const [agent, name] of agents) {
  describeWithAgent(agent, `the real ${name} between two Providers`, () => {
    let host: RealHost
    let first: Upstream
    let second: Upstream
    let talk: Talk
    let secondId: string
    let digests: string[] = []

    beforeAll(async () => {
      host = await createRealHost()
      first = await startUpstream(`${host.dataDir}-first`, [], { seal: 'first' })
      second = await startUpstream(`${host.dataDir}-second`, [], { seal: 'second' })
      const firstId = await host.connect(agent, 'First', first, KEYS[0])
      secondId = await host.connect(agent, 'Second', second, KEYS[1])
      talk = await host.talk(agent, firstId)
    })
    afterAll(async () => {
      await host[Symbol.asyncDispose]()
      await first[Symbol.asyncDispose]()
      await second[Symbol.asyncDispose]()
    })

    test('PR-A31 PR-A32 PR-A70 moves between two requests of a turn, without what the first sealed, and says so', async () => {
      await first.script(
        { steps: [think('I greet.'), say('Hello.')] },
        { steps: [think('I look.'), command[agent](LOOK)] },
      )
      await second.script(
        { steps: [think('I saw.'), say('Looked.')] },
        { steps: [think('I go on.'), say('Still here.')] },
      )
      expect(await talk.prompt('remember the blue door')).toMatchObject({ state: 'completed' })
      const runId = await talk.submit('look round')
      const decision = await talk.asked(runId)
      // The first Provider was given back what it had sealed itself, so there is something to lose.
      expect(JSON.stringify((await first.requests()).at(-1)?.body)).toContain('first.')
      digests = host.routeDigests()
      expect(digests).toHaveLength(1)

      expect(await talk.move(secondId, false)).toEqual({ kind: 'refused', code: 'route_binding_incompatible' })
      expect(await talk.move(secondId, true)).toEqual({ kind: 'now', historyStripped: true })
      await talk.allow(decision)
      expect(await talk.ended(runId)).toMatchObject({ state: 'completed' })
      expect(await talk.prompt('go on')).toMatchObject({ state: 'completed' })

      const [asked, again] = await second.requests()
      expect(await second.requests()).toHaveLength(2)
      expect(await first.requests()).toHaveLength(2)
      expect(JSON.stringify(asked?.body)).toMatch(/remember the blue door.*Hello\..*look round/)
      expect(JSON.stringify(again?.body)).toMatch(/Looked\..*go on/)
      const told = talk.notices().filter(({ code }) => code === 'history_stripped')
      expect(told).toMatchObject([{ message: expect.stringMatching(/^Second was sent this conversation without/) }])

      // What the command saw is in the answer that the model was given.
      const seen = JSON.stringify(asked?.body)
      expect(seen).toContain('WHEELHOUSE_WORKER=')
      expect(seen).toContain('fd three: ')
      expect(holds({ texts: [...KEYS], digests }, Buffer.from(seen))).toBe(false)
    })

    test('PR-A68 afterwards the plain agent resumes it at its own upstream, and the route’s id is in no file', async () => {
      await second.script({ status: 400 })
      expect(await talk.prompt('this fails')).toMatchObject({ state: 'failed' })
      const [digest] = host.routeDigests()
      expect(digests).toContain(digest)
      const wanted = { texts: [...KEYS], digests }
      expect(processesWith(wanted)).toEqual([])
      const threadId = talk.threadId()
      await host.stop()
      expect(filesWith(wanted, [host.home, host.workDir])).toEqual([])
      expect(filesWith({ texts: [], digests }, [host.dataDir])).toEqual([])

      await using elsewhere = await startUpstream(`${host.dataDir}-own`, [{ steps: [say('I remember.')] }])
      const resume = agent === 'codex' ? resumeCodex : resumeClaude
      expect(await resume(threadId, elsewhere.port)).toContain('I remember.')
      const own = await elsewhere.requests()
      expect(own.map(({ headers }) => headers['authorization'])).toEqual(['Bearer a-key-of-the-shell'])
      expect(JSON.stringify(own[0]?.body)).toMatch(/remember the blue door.*which door\?/)
    })

    async function resumeCodex(threadId: string, port: number): Promise<string> {
      const env = { ...host.env, CODEX_API_KEY: 'a-key-of-the-shell' }
      expect(await askPlainCodex(env, 'thread/list', {})).toMatchObject({
        data: [{ id: threadId, modelProvider: 'openai', preview: 'remember the blue door' }],
      })
      return resumePlainCodex({ env, cwd: host.workDir, threadId, prompt: 'which door?', port })
    }

    async function resumeClaude(threadId: string, port: number): Promise<string> {
      const env = {
        ...host.env,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
        ANTHROPIC_AUTH_TOKEN: 'a-key-of-the-shell',
      }
      const args = ['-p', 'which door?', '--resume', threadId, '--model', MODEL]
      const asked = promisify(execFile)('claude', args, {
        cwd: host.workDir,
        env,
        timeout: 90_000,
        killSignal: 'SIGKILL',
      })
      asked.child.stdin?.end()
      return (await asked).stdout
    }
  })
}
