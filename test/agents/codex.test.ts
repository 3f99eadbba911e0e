import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { PermissionRules } from '../../src/main/workers/index.ts'
import { ROUTE_ID, allow, createCodexRig, prompt, refuse, until } from './codex-session.ts'
import type { CodexRig } from './codex-session.ts'
import { describeWithAgent } from './installed.ts'
import type { Step } from './upstream.ts'

const run = (cmd: string): Step => ({ toolCall: { name: 'exec_command', input: { cmd } } })

describeWithAgent('codex', 'the real Codex', () => {
  test('WK-60 WK-01 a prompt is answered, a second one works, and close leaves nothing behind', async () => {
    await using rig = await createCodexRig({
      turns: [{ steps: [{ text: 'Hello there.' }] }, { steps: [{ text: 'Again.' }] }],
    })
    const session = await rig.open()
    const first = await session.prompt(prompt('hello'))
    expect(first.stop).toBe('end_turn')
    expect(first.usage).toMatchObject({ inputTokens: 100, outputTokens: 10 })
    expect((await session.prompt(prompt('more'))).stop).toBe('end_turn')
    expect(rig.said()).toBe('Hello there.Again.')
    expect(session.facts).toMatchObject({ agentVersion: '0.171.0', model: 'fake-large', modeVerified: true })
    expect((await session.close()).kind).toBe('gone')
    const [asked] = await rig.upstream.requests()
    expect(asked?.headers['authorization']).toBe(`Bearer ${ROUTE_ID}`)
  })

  test('an allowed command runs and its output comes back', async () => {
    await using rig = await createCodexRig({
      turns: [{ steps: [run('echo "it\'s" > made.txt; cat made.txt')] }, { steps: [{ text: 'Done.' }] }],
      decide: () => Promise.resolve(allow),
    })
    const session = await rig.open()
    await session.prompt(prompt('make a file'))
    expect(rig.requests.map(({ action }) => action)).toEqual([
      { kind: 'command', command: 'echo "it\'s" > made.txt; cat made.txt', cwd: rig.cwd, wrapper: '/bin/bash -lc' },
    ])
    expect(existsSync(`${rig.cwd}/made.txt`)).toBe(true)
    expect(rig.content.find((item) => item.kind === 'tool' && item.phase === 'finished')).toMatchObject({
      tool: 'execute',
      status: 'completed',
      content: [{ type: 'output', text: "it's\n", exitCode: 0 }],
    })
    expect(rig.told.map(([, how]) => how)).toEqual(['sent'])
  })

  test('WK-60 WK-13 a refused command does not run, is recorded once, and the turn goes on', async () => {
    await using rig = await createCodexRig({
      turns: [{ steps: [run('touch made.txt')] }, { steps: [{ text: 'Then not.' }] }],
    })
    const session = await rig.open()
    const result = await session.prompt(prompt('make a file'))
    expect(result.stop).toBe('end_turn')
    expect(result.refusals).toHaveLength(1)
    expect(rig.refusals).toHaveLength(1)
    expect(rig.refusals[0]).toMatchObject({ tool: 'commandExecution', by: 'person' })
    expect(existsSync(`${rig.cwd}/made.txt`)).toBe(false)
    expect(rig.said()).toBe('Then not.')
  })

  test('WK-60 WK-02 the agent is given exactly its own environment', async () => {
    process.env['CANARY'] = 'leaked'
    try {
      await using rig = await createCodexRig()
      const session = await rig.open()
      const read = readFileSync(`/proc/${session.process.pid}/environ`, 'utf8').split('\0').filter(Boolean)
      const env = Object.fromEntries(read.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
      // Its own npm shim says of itself where it lies.
      const own = ['CODEX_MANAGED_BY_NPM', 'CODEX_MANAGED_PACKAGE_ROOT']
      for (const name of own) delete env[name]
      const { PATH: path, ...rest } = env
      const { PATH: given, ...wanted } = rig.cfg.env
      expect(rest).toEqual({ ...wanted, ...rig.cfg.route?.envSet, WHEELHOUSE_WORKER: rig.cfg.workerId })
      expect(path?.endsWith(given ?? '-')).toBe(true)
    } finally {
      delete process.env['CANARY']
    }
  })

  test('WK-60 WK-16 WK-72 a cancel ends the turn and its command, and the worker goes on', async () => {
    await using rig = await createCodexRig({
      turns: [
        { steps: [run('sleep 300 >/dev/null 2>&1 & echo $! > left')] },
        { steps: [{ text: 'Left.' }] },
        { steps: [run('echo $$ > pid; exec sleep 300')] },
        { match: { bodyIncludes: 'after' }, steps: [{ text: 'Still here.' }] },
      ],
      decide: () => Promise.resolve(allow),
    })
    const session = await rig.open()
    expect(await session.prompt(prompt('leave one'))).toMatchObject({ stop: 'end_turn' })
    const left = readFileSync(`${rig.cwd}/left`, 'utf8').trim()
    const turn = session.prompt(prompt('sleep'))
    await until('the command runs', () => existsSync(`${rig.cwd}/pid`) && readFileSync(`${rig.cwd}/pid`, 'utf8') !== '')
    const pid = Number(readFileSync(`${rig.cwd}/pid`, 'utf8'))
    expect(existsSync(`/proc/${pid}`)).toBe(true)
    expect(await session.cancel()).toBe('sent')
    expect(await turn).toMatchObject({ stop: 'cancelled' })
    await until('the command is gone', () => !existsSync(`/proc/${pid}`))
    // What an earlier turn left behind is none of this one's.
    expect(existsSync(`/proc/${left}`)).toBe(true)
    expect(await session.cancel()).toBe('no_turn')
    expect(await session.prompt(prompt('after'))).toMatchObject({ stop: 'end_turn' })
    expect(rig.said()).toContain('Still here.')
  })

  test('WK-71 a patch is asked about with its diff, and made when it is allowed', async () => {
    const patch = (text: string): Step => ({ customToolCall: { name: 'apply_patch', input: text } })
    await using rig = await createCodexRig({
      turns: [
        { steps: [patch('*** Begin Patch\n*** Add File: new.txt\n+hello\n+there\n*** End Patch\n')] },
        { steps: [patch('*** Begin Patch\n*** Update File: new.txt\n@@\n-hello\n+bye\n there\n*** End Patch\n')] },
        { steps: [{ text: 'Done.' }] },
      ],
      decide: ({ action }) =>
        Promise.resolve(action.kind === 'edit' && action.changes[0]?.oldText === null ? allow : refuse),
    })
    const session = await rig.open()
    const { refusals } = await session.prompt(prompt('write it'))
    const path = `${rig.cwd}/new.txt`
    expect(rig.requests.map(({ action, complete }) => ({ action, complete }))).toEqual([
      { action: { kind: 'edit', changes: [{ path, oldText: null, newText: 'hello\nthere\n' }] }, complete: true },
      {
        action: { kind: 'edit', changes: [{ path, oldText: 'hello\nthere\n', newText: 'bye\nthere\n' }] },
        complete: true,
      },
    ])
    expect(refusals).toHaveLength(1)
    expect(readFileSync(path, 'utf8')).toBe('hello\nthere\n')
  })

  const modes: [Partial<PermissionRules>][] = [
    [{ mode: 'read_only' }],
    [{ mode: 'ask' }],
    [{ mode: 'ask', sandbox: 'workspace' }],
    [{ mode: 'edits' }],
    [{ mode: 'anything' }],
  ]
  test.each(modes)('WK-63 WK-80 %o, new and loaded, is proven and leaves no trust behind', async (rules) => {
    await using rig = await createCodexRig({
      rules,
      turns: [{ steps: [{ text: 'One.' }] }, { steps: [{ text: 'Two.' }] }],
    })
    const started = trapProject(rig)
    const before = rig.userConfig()
    const session = await rig.open()
    expect(session.facts).toMatchObject({ mode: rules.mode, modeVerified: true, loaded: false })
    await session.prompt(prompt('hello'))
    expect(await session.close()).toMatchObject({ kind: 'gone' })
    const again = await rig.open(session.id)
    expect(again.facts).toMatchObject({ mode: rules.mode, modeVerified: true, loaded: true })
    await again.prompt(prompt('hello again'))
    expect(rig.said()).toBe('One.Two.')
    expect(rig.userConfig()).toBe(before)
    expect(existsSync(started)).toBe(false)
    const requests = await rig.upstream.requests()
    expect(requests).toHaveLength(2)
    for (const { body } of requests) expect(JSON.stringify(body)).toContain('ALWAYS SAY SHIP AHOY')
    // The second one carries what was said before.
    expect(JSON.stringify(requests[1]?.body)).toContain('One.')
  })

  test("WK-64 a shell sees the mark, and nothing of the route; neither do the session's files", async () => {
    await using rig = await createCodexRig({
      turns: [{ steps: [run('env')] }, { steps: [{ text: 'Done.' }] }],
      decide: () => Promise.resolve(allow),
      env: { MINE: 'kept', THEIRS: 'hidden' },
    })
    writeFileSync(`${rig.codexHome}/config.toml`, '[shell_environment_policy]\nexclude = ["THEIRS"]\n')
    const session = await rig.open()
    await session.prompt(prompt('look'))
    const finished = rig.content.find((item) => item.kind === 'tool' && item.phase === 'finished')
    const output = JSON.stringify(finished)
    expect(output).toContain(`WHEELHOUSE_WORKER=${rig.cfg.workerId}`)
    expect(output).toContain('MINE=kept')
    expect(output).not.toMatch(/THEIRS=|NO_PROXY=|no_proxy=/)
    expect(output).not.toContain(ROUTE_ID)
    await session.close()
    expect(existsSync(`${rig.codexHome}/auth.json`)).toBe(false)
    for (const file of filesBelow(rig.codexHome)) expect(readFileSync(file, 'latin1')).not.toContain(ROUTE_ID)
  })

  test('WK-71 an MCP tool of ours is asked about by its name; exact keeps the server of the user out', async () => {
    const poke = (how: string): Step => ({ toolCall: { name: 'poke', namespace: 'mcp__wheelhouse', input: { how } } })
    await using rig = await createCodexRig({
      turns: [{ steps: [poke('hard')] }, { steps: [poke('soft')] }, { steps: [{ text: 'Done.' }] }],
      decide: ({ action }) => Promise.resolve(action.kind === 'mcp' && action.input.includes('hard') ? allow : refuse),
      change: (cfg) => ({
        ...cfg,
        mcp: 'exact',
        mcpServers: [{ name: 'wheelhouse', command: process.execPath, args: [MCP_SERVER], env: {} }],
      }),
    })
    const started = `${rig.dir}/users-server-started`
    const args = JSON.stringify([MCP_SERVER, started])
    writeFileSync(
      `${rig.codexHome}/config.toml`,
      `[mcp_servers."of.theirs"]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`,
    )
    const session = await rig.open()
    await session.prompt(prompt('poke'))
    expect(rig.requests.map(({ tool, action }) => [tool, action.kind])).toEqual([
      ['mcp__wheelhouse__poke', 'mcp'],
      ['mcp__wheelhouse__poke', 'mcp'],
    ])
    expect(rig.requests.every(({ toolCallId }) => toolCallId !== '')).toBe(true)
    expect(rig.refusals).toHaveLength(1)
    expect(JSON.stringify(rig.content)).toContain('poked hard')
    expect(JSON.stringify(rig.content)).not.toContain('poked soft')
    expect(existsSync(started)).toBe(false)
  })

  test('WK-68 a reason of a refusal and steering reach the running turn', async () => {
    await using rig = await createCodexRig({
      turns: [
        { steps: [run('touch made.txt')] },
        { steps: [{ wait: 'go' }, { text: 'I see.' }] },
        { steps: [{ text: 'Fine.' }] },
      ],
      decide: () => Promise.resolve({ ...refuse, reason: 'Only in the folder of tests.' }),
    })
    const session = await rig.open()
    const turn = session.prompt(prompt('make a file'))
    await until('it asks the model again', async () => (await rig.upstream.requests()).length === 2)
    expect(await session.steer?.('And be brief.', new AbortController().signal)).toBe('taken')
    await rig.upstream.release('go')
    expect(await turn).toMatchObject({ stop: 'end_turn' })
    const last = JSON.stringify((await rig.upstream.requests()).at(-1)?.body)
    expect(last).toContain('Only in the folder of tests.')
    expect(last).toContain('And be brief.')
  })

  test('what a sub-agent wants to run is asked as well', async () => {
    const spawn = { toolCall: { name: 'spawn_agent', namespace: 'multi_agent_v1', input: { message: 'CHILD TASK' } } }
    await using rig = await createCodexRig({
      turns: [
        { match: { bodyExcludes: 'CHILD TASK' }, steps: [spawn] },
        { match: { bodyExcludes: 'function_call_output' }, steps: [run('touch child.txt')] },
        { match: { bodyIncludes: 'touch child.txt' }, steps: [{ text: 'Child done.' }] },
        { steps: [{ wait: 'child' }, { text: 'It was done.' }] },
      ],
      decide: () => Promise.resolve(allow),
    })
    const session = await rig.open()
    const turn = session.prompt(prompt('delegate'))
    await until('the sub-agent has worked', () => existsSync(`${rig.cwd}/child.txt`))
    await rig.upstream.release('child')
    expect(await turn).toMatchObject({ stop: 'end_turn', refusals: [] })
    expect(rig.requests).toMatchObject([{ action: { kind: 'command', command: 'touch child.txt' } }])
    expect(rig.content.some((item) => item.kind === 'tool' && item.title === 'touch child.txt')).toBe(true)
    expect(rig.said()).not.toContain('Child done.')
  })

  test('another model and effort take effect with the next turn', async () => {
    await using rig = await createCodexRig({ turns: [{ steps: [{ text: 'One.' }] }, { steps: [{ text: 'Two.' }] }] })
    const session = await rig.open()
    await session.prompt(prompt('hello'))
    expect(await session.setRuntime?.({ modelId: 'fake-small', effort: 'high' })).toBe('next_turn')
    await session.prompt(prompt('hello'))
    const [first, second] = await rig.upstream.requests()
    expect([first?.body.model, second?.body.model]).toEqual(['fake-large', 'fake-small'])
    expect(second?.body.reasoning?.effort).toBe('high')
    expect(session.runtime()).toEqual({ modelId: 'fake-small', effort: 'high' })
  })

  test('a fork goes on from what was said, beside the conversation it came from', async () => {
    await using rig = await createCodexRig({ turns: [{ steps: [{ text: 'One.' }] }, { steps: [{ text: 'Two.' }] }] })
    const session = await rig.open()
    await session.prompt(prompt('hello'))
    await session.close()
    const fork = await rig.open(undefined, (cfg) => ({ ...cfg, fork: { agentSessionId: session.id } }))
    expect(fork.id).not.toBe(session.id)
    await fork.prompt(prompt('go on'))
    expect(JSON.stringify((await rig.upstream.requests())[1]?.body)).toContain('One.')
  })

  test('WK-26 WK-73 an unknown conversation is not found, and one that is open elsewhere is in use', async () => {
    await using rig = await createCodexRig({ turns: [{ steps: [{ text: 'One.' }] }] })
    await expect(rig.open('01a22875-c499-7840-9679-8d1ed0beb365')).rejects.toMatchObject({
      code: 'agent_session_not_found',
      started: 'ended',
    })
    const session = await rig.open()
    await session.prompt(prompt('hello'))
    await using other = await createCodexRig({ env: { CODEX_HOME: rig.codexHome } })
    await expect(other.open(session.id)).rejects.toMatchObject({ code: 'session_in_use', started: 'ended' })
  })

  test('WK-75 WK-80 what the model server answers is told: retries, then the end', async () => {
    await using rig = await createCodexRig({
      turns: [{ status: 429, headers: { 'retry-after': '1' } }, { status: 400 }],
    })
    const session = await rig.open()
    await expect(session.prompt(prompt('hello'))).rejects.toMatchObject({ code: 'turn_failed' })
    expect(rig.content.filter(({ kind }) => kind === 'retrying')).toMatchObject([
      { attempt: 1, maxAttempts: 5, httpStatus: 429 },
    ])
  })

  test('WK-79 a preflight passes, and calls no model', async () => {
    await using rig = await createCodexRig()
    const { env, route, privateDir } = rig.cfg
    const { signal } = new AbortController()
    const found = await rig.workers.driver('codex').preflight({ env, route, privateDir }, signal)
    expect(found).toMatchObject({ product: 'Codex', version: '0.171.0', failed: null })
    expect(found.checks.map(({ name, status }) => [name, status])).toEqual([
      ['starts', 'pass'],
      ['handshake', 'pass'],
      ['login', 'pass'],
    ])
    const alone = await rig.workers.driver('codex').preflight({ env, route: null, privateDir }, signal)
    expect(alone.checks.at(-1)).toMatchObject({ name: 'login', status: 'warn' })
    expect(await rig.upstream.requests()).toEqual([])
  })
})

const MCP_SERVER = fileURLToPath(new URL('mcp-server.mjs', import.meta.url))

/** A fresh git folder whose own configuration would start a server; answers the file that it would leave. */
function trapProject(rig: CodexRig): string {
  const started = `${rig.dir}/projects-server-started`
  execFileSync('git', ['init', '-q', rig.cwd])
  mkdirSync(`${rig.cwd}/.codex`)
  const args = JSON.stringify([MCP_SERVER, started])
  writeFileSync(
    `${rig.cwd}/.codex/config.toml`,
    `[mcp_servers.trap]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`,
  )
  writeFileSync(`${rig.cwd}/AGENTS.md`, 'ALWAYS SAY SHIP AHOY\n')
  return started
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}
