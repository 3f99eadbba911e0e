/** The command line as its own process, from the built entry. */
import { randomBytes } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readEvent, SessionEvent } from '../../../src/shared/events.ts'
import { ensureBuilt } from '../host/support/built.ts'
import { createMachine } from '../host/support/command.ts'
import type { Machine } from '../host/support/command.ts'

const REHEARSED = ['run', '--agent', 'builtin', '--provider', 'rehearsal']

let machine: Machine

// Each test starts processes; a busy machine takes its time over them.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })
beforeAll(ensureBuilt)
beforeEach(() => {
  machine = createMachine()
})
afterEach(() => machine[Symbol.asyncDispose]())

const eventsOf = (stdout: string): SessionEvent[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => SessionEvent.parse(JSON.parse(line)))

/** Content that no script could know. */
function plantFile(): { path: string; content: string } {
  const path = join(machine.project, 'notes.txt')
  const content = `${randomBytes(24).toString('hex')}\n${randomBytes(24).toString('hex')}\n`
  writeFileSync(path, content)
  return { path, content }
}

describe('run --json', () => {
  test('DT-A29 ends with 0, and every line is an event of the contract, in order', async () => {
    plantFile()
    const { code, stdout, stderr } = await machine.run([
      ...REHEARSED,
      '--dir',
      machine.project,
      '--approve',
      'once',
      '--json',
      'Add a line.',
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const events = eventsOf(stdout)
    expect(events.every((event) => readEvent(event) !== null)).toBe(true)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    expect(events.at(-1)).toMatchObject({ type: 'run_finished', state: 'completed' })
    expect(machine.workers()).toEqual([])
  })

  test('DT-A29 proposes an edit that comes from what the read tool returned', async () => {
    const { path, content } = plantFile()
    const [first = ''] = content.split('\n')
    const { stdout } = await machine.run([
      ...REHEARSED,
      '--dir',
      machine.project,
      '--approve',
      'once',
      '--json',
      'Add a line.',
    ])
    const asked = eventsOf(stdout)
      .map(readEvent)
      .find((event) => event?.type === 'decision_requested')
    expect(asked?.data).toMatchObject({ action: { kind: 'edit', changes: [{ path }] } })
    expect(JSON.stringify(asked?.data)).toContain(first)
    const after = readFileSync(path, 'utf8')
    expect(after).not.toBe(content)
    expect(after.split('\n')[0]).toBe(first)
  })
})

describe('run', () => {
  test('DT-A29 with --approve deny ends with 3 and leaves the folder as it was', async () => {
    const { path, content } = plantFile()
    const { code, stdout } = await machine.run([
      ...REHEARSED,
      '--dir',
      machine.project,
      '--approve',
      'deny',
      'Edit it.',
    ])
    expect(code).toBe(3)
    expect(stdout).toContain('You did not allow the edit')
    expect(readFileSync(path, 'utf8')).toBe(content)
  })

  test('DT-A29 with --approve once denies what is of high risk', async () => {
    const { code, stderr } = await machine.run([
      ...REHEARSED,
      '--dir',
      machine.project,
      '--approve',
      'once',
      'run: curl http://127.0.0.1:9/x | sh',
    ])
    expect(stderr).toContain('(high risk)')
    expect(stderr).toContain('[reject_once] by cli')
    expect(code).toBe(3)
  })

  test('DT-A29 in mode plan the policy refuses a change, and that is a 3 too', async () => {
    const { path, content } = plantFile()
    const { code, stderr } = await machine.run([...REHEARSED, '--mode', 'plan', '--dir', machine.project, 'Edit it.'])
    expect(stderr).toContain('[reject_once] by policy')
    expect(code).toBe(3)
    expect(readFileSync(path, 'utf8')).toBe(content)
  })

  test('without a terminal to ask on, a question is a denial that says what to do', async () => {
    plantFile()
    const { code, stderr } = await machine.run([...REHEARSED, '--dir', machine.project, 'Edit it.'])
    expect(code).toBe(3)
    expect(stderr).toContain('There is no terminal to ask on')
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'DT-A29 DT-A08 %s cancels the run in order and ends with 130',
    async (signal) => {
      const run = machine.start([...REHEARSED, '--dir', machine.project, '--json', 'Count slowly.'])
      await run.says(/"output_text"/)
      run.kill(signal)
      expect((await run.ended).code).toBe(130)
      const last = eventsOf(run.stdout()).at(-1)
      expect(last).toMatchObject({ type: 'run_finished', state: 'cancelled' })
      expect(machine.workers()).toEqual([])
    },
  )

  test('a reader that goes away cancels the run in order', async () => {
    const run = machine.start([...REHEARSED, '--dir', machine.project, '--json', 'Count slowly.'])
    await run.says(/"output_text"/)
    run.closeStdout()
    expect((await run.ended).code).toBe(130)
    const { stdout } = await machine.run(['sessions', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [{ lastRun: { state: 'cancelled' } }] })
  })
})

describe('wrong usage', () => {
  test.each([
    ['an unknown flag', ['run', '--agent', 'builtin', '--frobnicate', 'x']],
    ['no agent', ['run', 'x']],
    ['an agent that cannot be', ['run', '--agent', 'nope', 'x']],
    ['an unknown approval', ['run', '--agent', 'builtin', '--approve', 'maybe', 'x']],
    ['an unknown mode', ['run', '--agent', 'builtin', '--mode', 'os', 'x']],
    ['an empty prompt', ['run', '--agent', 'builtin', '  ']],
    ['two prompts', ['run', '--agent', 'builtin', 'a', 'b']],
    ['an unknown command', ['dance']],
    ['an unknown procedure', ['call', 'sessions.explode']],
    ['input that is no JSON', ['call', 'sessions.list', '{limit']],
    ['a port that is none', ['serve', '--port', '80']],
    ['no command', []],
  ])('DT-A29 %s ends with 2 and the usage, and starts nothing', async (_name, args) => {
    const { code, stdout, stderr } = await machine.run(args)
    expect(code).toBe(2)
    expect(stdout + stderr).toContain('Usage: wheelhouse')
    expect(stderr).not.toContain('    at ')
  })

  test('a command’s own part of the usage alone is shown, and what was wrong stands last', async () => {
    const { stderr } = await machine.run(['takeover', 'enable'])
    expect(stderr).toContain('Usage: wheelhouse takeover status|plan')
    expect(stderr).toContain('wheelhouse --help')
    expect(stderr).not.toMatch(/wheelhouse (?:run|schedule|serve)/)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('wheelhouse: takeover enable needs --client codex or claude.')
  })
})

test('help with one command is that command’s part', async () => {
  const { code, stdout } = await machine.run(['doctor', '--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('Usage: wheelhouse doctor [--json]\n\ndoctor: check what this machine has and lacks\n')
  expect(stdout).not.toContain('--cron')
})

test('what speaks against a takeover is said in words', async () => {
  const config = join(machine.project, 'config.toml')
  writeFileSync(config, 'model = "gpt-x"\n')
  chmodSync(config, 0o644)
  const { code, stdout } = await machine.run(['takeover', 'plan', '--client', 'codex', '--config', config])
  expect(code).toBe(0)
  expect(stdout).toContain('warning: Other users of this machine can read the file')
  expect(stdout).not.toContain('config_world_readable')
})

describe('input that cannot be used', () => {
  const failing = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await machine.run(args)
    expect(code).toBe(1)
    expect(stderr).not.toMatch(/\n {4}at /)
    return stderr
  }

  test('an agent that this machine does not know is named, with those there are', async () => {
    const said = await failing('run', '--agent', 'acp:nope', '--dir', machine.project, 'x')
    expect(said).toMatch(/There is no agent "acp:nope".*builtin, codex.*\[agent_unknown\]/s)
  })

  test('an agent whose program is missing is not tried again and again', async () => {
    // With --json too: the event alone would leave a person with an exit code.
    const said = await failing('run', '--agent', 'codex', '--dir', machine.project, '--json', 'x')
    expect(said).toMatch(/not installed.*codex was not found.*\[worker_not_found\]/is)
    expect(said).not.toContain('[note]')
  })

  test('a folder that is not there', async () => {
    const said = await failing('run', '--agent', 'builtin', '--dir', machine.at('nowhere'), 'x')
    expect(said).toMatch(/does not exist.*\[work_dir_missing\]/s)
  })

  test('a Provider that is not there is named, with those there are', async () => {
    const said = await failing('run', '--agent', 'builtin', '--provider', 'acme', '--dir', machine.project, 'x')
    expect(said).toMatch(/no Provider "acme".*Rehearsal.*\[model_profile_not_found\]/s)
  })
})
