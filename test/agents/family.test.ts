import { existsSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { createIds, createSecretRegistry, createSystemClock } from '../../src/main/platform/index.ts'
import { createSupervisor } from '../../src/main/workers/supervisor.ts'
import type { ReleaseOutcome, Session } from '../../src/main/workers/index.ts'
import { createMemoryLog } from '../support/log.ts'
import { allow, prompt, until } from './agent-session.ts'
import type { AgentRig, RigOptions } from './agent-session.ts'
import { bash, createClaudeRig, say } from './claude-session.ts'
import { createCodexRig } from './codex-session.ts'
import { describeWithAgent } from './installed.ts'
import { isRunning } from './processes.ts'
import type { Step } from './upstream.ts'

vi.setConfig({ testTimeout: 300_000 })

const CLOSE = { closeStdinMs: 2_000, termGraceMs: 1_000, confirmMs: 5_000 }

/** What a command can leave behind: deaf in a session of its own, and forked twice out of reach. */
const LEAVES = ['deaf', 'forked']
const COMMAND = [
  `setsid nohup sh -c 'trap "" TERM HUP; echo $$ > deaf; while :; do sleep 1; done' >/dev/null 2>&1 &`,
  `(setsid sh -c 'sleep 300 >/dev/null 2>&1 & echo $! > forked' >/dev/null 2>&1 &)`,
  'while [ ! -s deaf ] || [ ! -s forked ]; do sleep 0.1; done; echo left',
].join('\n')

interface Agent {
  program: string
  create(options: RigOptions): Promise<AgentRig>
  run(command: string): Step
}

const AGENTS: readonly Agent[] = [
  { program: 'claude', create: createClaudeRig, run: bash },
  { program: 'codex', create: createCodexRig, run: (cmd) => ({ toolCall: { name: 'exec_command', input: { cmd } } }) },
]

/** A host of its own that knows the worker by its record alone. */
function reapElsewhere(rig: AgentRig, session: Session): Promise<ReleaseOutcome> {
  const next = createSupervisor(
    {
      clock: createSystemClock(),
      ids: createIds(),
      log: createMemoryLog(),
      paths: { workers: `${rig.dir}/workers` },
      secrets: createSecretRegistry(),
      hostEnv: () => undefined,
    },
    [],
  )
  return next.reap(rig.cfg.workerId, session.process, CLOSE)
}

const ENDS: Readonly<Record<string, (rig: AgentRig, session: Session) => Promise<ReleaseOutcome>>> = {
  'a close': (_rig, session) => session.close(CLOSE),
  'a close once the agent was killed': async (_rig, session) => {
    process.kill(session.process.pid, 'SIGKILL')
    await session.exited
    return session.close(CLOSE)
  },
  'the next host': reapElsewhere,
}

for (const { program, create, run } of AGENTS) {
  describeWithAgent(program, `what a command of the real ${program} left behind`, () => {
    test.each(Object.keys(ENDS))('WK-23 WK-65 is dead after %s', async (how) => {
      await using rig = await create({
        turns: [{ steps: [run(COMMAND)] }, { steps: [say('Done.')] }],
        decide: () => Promise.resolve(allow),
      })
      const session = await rig.open()
      expect(await session.prompt(prompt('leave something'))).toMatchObject({ stop: 'end_turn' })
      await until('both run', () => LEAVES.every((file) => existsSync(`${rig.cwd}/${file}`)))
      const pids = LEAVES.map((file) => Number(readFileSync(`${rig.cwd}/${file}`, 'utf8')))
      expect(pids.map(isRunning)).toEqual([true, true])
      const outcome = await ENDS[how]?.(rig, session)
      expect({ outcome, running: [session.process.pid, ...pids].filter(isRunning) }).toEqual({
        outcome: expect.objectContaining({ kind: 'gone', strays: [] }),
        running: [],
      })
    })
  })
}
