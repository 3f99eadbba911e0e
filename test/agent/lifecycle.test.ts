import { readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { saidText } from '../support/agent-process.ts'
import { aFolder, aModel, anAgent, call, DIALECTS, lives, toolResults, wholeRequest } from './support.ts'

/** Waits for a file that a command writes, and reads the process ids in it. */
async function pidsIn(path: string): Promise<number[]> {
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text.includes('end'))
      return text
        .split(/\s+/)
        .map(Number)
        .filter((pid) => pid > 0)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('a cancel in the middle of a command ends the turn at once and leaves no process', async () => {
  const cwd = await aFolder()
  const command =
    "trap '' TERM; sleep 600 & (trap '' TERM; sleep 600) & echo $$ $! $(jobs -p) end > pids; wait; sleep 600"
  const model = await aModel({ text: 'Running.', calls: [call('bash', { command })] }, { text: 'Back again.' })
  const agent = anAgent(model)
  const session = await agent.session(cwd, 'anything')
  const prompt = agent.prompt(session, 'go')
  const pids = await pidsIn(join(cwd, 'pids'))
  agent.notify('session/cancel', { sessionId: session })
  expect((await prompt).stopReason).toBe('cancelled')
  expect(pids.length).toBeGreaterThanOrEqual(3)
  await expect.poll(() => pids.filter(lives)).toEqual([])

  // The next prompt knows what was said and done.
  expect((await agent.prompt(session, 'and now?')).stopReason).toBe('end_turn')
  expect(wholeRequest(model)).toContain('Running.')
  expect(toolResults(model)).toHaveLength(1)
})

test.each(DIALECTS)(
  'a cancel while the model speaks leaves its stream and keeps what was said, over %s',
  async (dialect) => {
    const model = await aModel({ text: 'Once upon a time', hang: true }, { text: 'ok' })
    const agent = anAgent(model, { dialect })
    const session = await agent.session(await aFolder())
    const prompt = agent.prompt(session, 'a story')
    await agent.waitFor(() => saidText(agent) === 'Once upon a time')
    agent.notify('session/cancel', { sessionId: session })
    expect((await prompt).stopReason).toBe('cancelled')
    await model.leftEarly
    await agent.prompt(session, 'go on')
    expect(wholeRequest(model)).toContain('Once upon a time')
  },
)

test('a cancel while the person is asked withdraws the question and runs nothing', async () => {
  const cwd = await aFolder()
  const model = await aModel({ calls: [call('bash', { command: 'touch made' })] }, { text: 'ok' })
  const agent = anAgent(model)
  agent.answerWith(() => new Promise(() => undefined))
  const session = await agent.session(cwd)
  const prompt = agent.prompt(session, 'go')
  const asked = await agent.waitFor((frame) => frame.method === 'session/request_permission')
  agent.notify('session/cancel', { sessionId: session })
  expect((await prompt).stopReason).toBe('cancelled')
  expect(agent.frames.find((frame) => frame.method === '$/cancel_request')?.params).toEqual({ requestId: asked.id })
  expect(await readdir(cwd)).toEqual([])
})

test('the end of its input ends the agent and the command it runs', async () => {
  const cwd = await aFolder()
  const model = await aModel({ calls: [call('bash', { command: 'sleep 600 & echo $$ $! end > pids; wait' })] })
  const agent = anAgent(model)
  void agent.prompt(await agent.session(cwd, 'anything'), 'go').catch(() => undefined)
  const pids = await pidsIn(join(cwd, 'pids'))
  expect(await agent.end()).toBe(0)
  await expect.poll(() => pids.filter(lives)).toEqual([])
})

test('a TERM ends the agent and the command it runs', async () => {
  const cwd = await aFolder()
  const model = await aModel({ calls: [call('bash', { command: 'sleep 600 & echo $$ $! end > pids; wait' })] })
  const agent = anAgent(model)
  void agent.prompt(await agent.session(cwd, 'anything'), 'go').catch(() => undefined)
  const pids = await pidsIn(join(cwd, 'pids'))
  const exited = new Promise((resolve) => agent.child.once('exit', resolve))
  agent.child.kill('SIGTERM')
  await exited
  await expect.poll(() => pids.filter(lives)).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'the key is in no environment, argument or descriptor, of the agent or of its commands',
  async () => {
    const cwd = await aFolder()
    const key = 'route-key-that-nobody-else-may-see'
    const model = await aModel(
      {
        calls: [
          call('bash', {
            command: 'env; ls -l /proc/self/fd; ls -l /proc/$PPID/fd; tr "\\0" "\\n" < /proc/$PPID/environ',
          }),
        ],
      },
      { text: 'ok' },
    )
    const agent = anAgent(model, { key })
    await agent.prompt(await agent.session(cwd, 'anything'), 'go')
    const [output = ''] = toolResults(model)
    expect(model.requests[0]?.key).toBe(key)
    expect(output).toContain('[exit code 0]')
    expect(output).not.toContain(key)
    const ofShell = output.slice(0, output.indexOf('total'))
    expect(ofShell).toContain('WHEELHOUSE_WORKER=mark-of-the-worker')
    expect(ofShell).not.toContain('WHEELHOUSE_MODEL')
    expect(ofShell).not.toContain('ELECTRON_RUN_AS_NODE')
    const pid = agent.child.pid ?? 0
    const links = await Promise.all(
      (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
    )
    expect(links.filter((link) => link.includes('agent-key-') || link.includes('(deleted)'))).toEqual([])
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(key)
    expect(JSON.stringify(agent.frames)).not.toContain(key)
  },
)

test.each(DIALECTS)('a session is loaded after a restart, shown again and continued, over %s', async (dialect) => {
  const cwd = await aFolder({ 'a.txt': 'secret number 42\n' })
  const home = await aFolder()
  const model = await aModel(
    { text: 'Looking.', calls: [call('read', { path: 'a.txt' })] },
    { text: 'It is 42.' },
    { text: 'Still 42.' },
  )
  const first = anAgent(model, { dialect, home })
  const sessionId = await first.session(cwd)
  await first.prompt(sessionId, 'Which number?')
  await first.end()
  expect((await stat(join(home, `${sessionId}.jsonl`))).mode & 0o777).toBe(0o600)

  const second = anAgent(model, { dialect, home })
  await second.call('initialize', { protocolVersion: 1 })
  const loaded = await second.call('session/load', { sessionId, cwd, mcpServers: [] })
  expect(loaded.modes.currentModeId).toBe('ask')
  expect(second.updates('user_message_chunk').map((update) => update.content.text)).toEqual(['Which number?'])
  expect(saidText(second)).toBe('Looking.It is 42.')
  expect(second.updates('tool_call')).toHaveLength(1)
  await second.prompt(sessionId, 'And now?')
  expect(toolResults(model)).toEqual(['secret number 42\n'])
  expect(wholeRequest(model)).toContain('Which number?')
})

test('a history that a crash cut is loaded up to the cut, and a lost tool call is closed', async () => {
  const cwd = await aFolder()
  const home = await aFolder()
  const sessionId = 'cut-session'
  const message = (value: object) => JSON.stringify({ type: 'message', message: value })
  await writeFile(
    join(home, `${sessionId}.jsonl`),
    [
      JSON.stringify({ type: 'session', version: 1, sessionId, cwd }),
      message({ role: 'user', content: [{ type: 'text', text: 'do it' }] }),
      message({
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'bash', input: { command: 'x' } }],
      }),
      '{"type":"message","message":{"role":"to',
    ].join('\n'),
  )
  const model = await aModel({ text: 'ok' })
  const agent = anAgent(model, { home })
  await agent.call('initialize', { protocolVersion: 1 })
  await agent.call('session/resume', { sessionId, cwd, mcpServers: [] })
  expect(agent.updates()).toEqual([])
  expect((await agent.prompt(sessionId, 'go on')).stopReason).toBe('end_turn')
  expect(toolResults(model)).toEqual([expect.stringContaining('Whether it took effect is unknown')])
  const lines = (await readFile(join(home, `${sessionId}.jsonl`), 'utf8')).trim().split('\n')
  expect(lines.slice(4).every((line) => JSON.parse(line).type === 'message')).toBe(true)
})

test('a session that does not exist, or a folder that does not, is refused by its code', async () => {
  const cwd = await aFolder()
  const agent = anAgent(null, { home: await aFolder() })
  await agent.call('initialize', { protocolVersion: 1 })
  const codeOf = (method: string, params: object): Promise<number> =>
    agent.call(method, params).then(
      () => 0,
      (thrown: { code: number }) => thrown.code,
    )
  expect(await codeOf('session/load', { sessionId: 'nobody', cwd, mcpServers: [] })).toBe(-32_002)
  expect(await codeOf('session/load', { sessionId: '../escape', cwd, mcpServers: [] })).toBe(-32_602)
  expect(await codeOf('session/new', { cwd: join(cwd, 'missing'), mcpServers: [] })).toBe(-32_602)
  expect(await codeOf('session/new', { cwd: 'relative', mcpServers: [] })).toBe(-32_602)
  expect(await codeOf('session/prompt', { sessionId: 'nobody', prompt: [{ type: 'text', text: 'x' }] })).toBe(-32_002)
})

test('a fork begins with what was said and goes its own way', async () => {
  const cwd = await aFolder()
  const model = await aModel({ text: 'one' }, { text: 'two' }, { text: 'three' })
  const agent = anAgent(model, { home: await aFolder() })
  const origin = await agent.session(cwd)
  await agent.prompt(origin, 'the beginning')
  const { sessionId: fork } = await agent.call('session/fork', { sessionId: origin, cwd, mcpServers: [] })
  expect(fork).not.toBe(origin)
  await agent.prompt(fork, 'only in the fork')
  expect(wholeRequest(model)).toContain('the beginning')
  await agent.prompt(origin, 'on the trunk')
  expect(wholeRequest(model)).not.toContain('only in the fork')
})

test('what a turn had said when its client left is there when the session is loaded', async () => {
  const cwd = await aFolder()
  const home = await aFolder()
  const model = await aModel({ text: 'Half a sentence', hang: true }, { text: 'ok' })
  const first = anAgent(model, { home })
  const sessionId = await first.session(cwd)
  void first.prompt(sessionId, 'go').catch(() => undefined)
  await first.waitFor(() => saidText(first) === 'Half a sentence')
  await first.end()
  const second = anAgent(model, { home })
  await second.call('initialize', { protocolVersion: 1 })
  await second.call('session/load', { sessionId, cwd, mcpServers: [] })
  expect(saidText(second)).toBe('Half a sentence')
})
