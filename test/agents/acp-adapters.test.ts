import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { ROUTE_ID, allow, createClaudeAcpRig, createCodexAcpRig, prompt, refuse, until } from './acp-session.ts'
import type { InteractionRequest } from '../../src/main/workers/index.ts'
import { describeWithAgent } from './installed.ts'
import { filesWith } from './leaks.ts'
import { isRunning } from './processes.ts'
import type { Step, UpstreamRequest, UpstreamTurn } from './upstream.ts'

// Two programs on top of each other take their time to start on a machine that does other things.
vi.setConfig({ testTimeout: 300_000 })

const MCP_SERVER = fileURLToPath(new URL('mcp-server.mjs', import.meta.url))
const QUICK = { closeStdinMs: 4_000, termGraceMs: 500 }
const say = (text: string): Step => ({ text })
const allowed = () => Promise.resolve(allow)
const refused = () => Promise.resolve({ ...refuse, reason: 'Only below the folder tests.' })

/** Without what the adapters ask beside the conversation. */
const ofTurns = (requests: readonly UpstreamRequest[]): UpstreamRequest[] =>
  requests.filter(({ body }) => body.model === 'fake-large' && body.tools?.length > 0)

const patch = (file: string): Step => ({
  customToolCall: { name: 'apply_patch', input: `*** Begin Patch\n*** Add File: ${file}\n+made\n*** End Patch\n` },
})

describeWithAgent('codex-acp', 'the real codex-acp', () => {
  test('WK-74 WK-60 WK-01 WK-26 it is read-only before the prompt, on its route, without the servers of the person', async () => {
    await using rig = await createCodexAcpRig({
      turns: ['Hello there.', 'Again.', 'I remember.'].map((text) => ({ steps: [say(text)] })),
      change: (cfg) => ({ ...cfg, mcp: 'exact' }),
    })
    const started = `${rig.dir}/users-server-started`
    const theirs = `[mcp_servers.theirs]\ncommand = "${process.execPath}"\nargs = ["${MCP_SERVER}", "${started}"]\n`
    writeFileSync(`${rig.codexHome}/config.toml`, theirs)
    writeFileSync(`${rig.codexHome}/auth.json`, '{"OPENAI_API_KEY":"of-the-person"}')
    const session = await rig.open()
    expect(session.facts).toMatchObject({ mode: 'ask', modeVerified: true })
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    expect(await session.prompt(prompt('more'))).toMatchObject({ stop: 'end_turn' })
    expect((await session.close(QUICK)).kind).toBe('gone')

    const again = await rig.open(session.id)
    expect(again.facts).toMatchObject({ loaded: true, mode: 'ask', modeVerified: true })
    await again.prompt(prompt('which words?'))
    expect(rig.said()).toBe('Hello there.Again.I remember.')
    await again.close(QUICK)

    const requests = await rig.upstream.requests()
    expect(ofTurns(requests)).toHaveLength(3)
    expect(new Set(requests.map(({ headers }) => headers['authorization']))).toEqual(new Set([`Bearer ${ROUTE_ID}`]))
    expect(existsSync(started)).toBe(false)
    expect(readFileSync(`${rig.codexHome}/auth.json`, 'utf8')).toContain('of-the-person')
    expect(filesWith({ texts: [ROUTE_ID], digests: [] }, [rig.home, `${rig.dir}/workers`])).toEqual([])
  })

  test('WK-74 WK-60 WK-13 an edit is asked about once; refused, the next prompt says why', async () => {
    await using rig = await createCodexAcpRig({
      turns: [{ steps: [patch('made.txt')] }, { steps: [say('I see.')] }],
      decide: refused,
    })
    const session = await rig.open()
    expect(await session.prompt(prompt('make a file'))).toMatchObject({
      stop: 'ended_by_denial',
      refusals: [{ by: 'person' }],
    })
    expect(rig.requests).toHaveLength(1)
    expect(rig.requests[0]).toMatchObject({ kind: 'edit', action: { kind: 'edit', changes: [{ newText: 'made\n' }] } })
    expect(existsSync(`${rig.cwd}/made.txt`)).toBe(false)
    expect(await session.prompt(prompt('and now?'))).toMatchObject({ stop: 'end_turn' })
    expect(JSON.stringify(ofTurns(await rig.upstream.requests()).at(-1)?.body)).toContain(
      'Only below the folder tests.',
    )
  })

  test('WK-74 an edit that is allowed is made', async () => {
    await using rig = await createCodexAcpRig({
      turns: [{ steps: [patch('made.txt')] }, { steps: [say('Done.')] }],
      decide: allowed,
    })
    const session = await rig.open()
    expect(await session.prompt(prompt('make a file'))).toMatchObject({ stop: 'end_turn', refusals: [] })
    expect(rig.requests).toHaveLength(1)
    expect(readFileSync(`${rig.cwd}/made.txt`, 'utf8')).toBe('made\n')
    expect(rig.told.map(([, how]) => how)).toEqual(['sent'])
  })

  test('WK-60 WK-64 WK-16 a command sees the mark and no set-up; a cancel ends it, and the worker goes on', async () => {
    await using rig = await createCodexAcpRig({
      rules: { mode: 'anything' },
      turns: [
        {
          steps: [
            { toolCall: { name: 'exec_command', input: { cmd: 'env > env.txt; echo $$ > pid; exec sleep 300' } } },
          ],
        },
        { match: { bodyIncludes: 'afterwards' }, steps: [say('Still here.')] },
      ],
    })
    const session = await rig.open()
    expect(session.facts).toMatchObject({ mode: 'anything', modeVerified: true })
    const turn = session.prompt(prompt('sleep'))
    await until('the command runs', () => existsSync(`${rig.cwd}/pid`) && readFileSync(`${rig.cwd}/pid`, 'utf8') !== '')
    expect(await session.cancel()).toBe('sent')
    expect(await turn).toMatchObject({ stop: 'cancelled' })
    const env = readFileSync(`${rig.cwd}/env.txt`, 'utf8')
    expect(env).toContain(`WHEELHOUSE_WORKER=${rig.cfg.workerId}`)
    expect(env).not.toMatch(/CODEX_CONFIG|CODEX_PATH/)
    expect(env).not.toContain(ROUTE_ID)
    expect(await session.prompt(prompt('afterwards'))).toMatchObject({ stop: 'end_turn' })
    expect(rig.said()).toContain('Still here.')
    const pid = Number(readFileSync(`${rig.cwd}/pid`, 'utf8'))
    expect((await session.close(QUICK)).kind).toBe('gone')
    expect(isRunning(pid)).toBe(false)
  })
})

const bash = (command: string): Step => ({
  toolCall: { name: 'Bash', input: { command, description: 'As scripted' } },
})

/** What it asks beside the conversation has no tools. */
const ofTurn = (step: Step): UpstreamTurn => ({ match: { tools: true }, steps: [step] })

describeWithAgent('claude-agent-acp', 'the real claude-agent-acp', () => {
  test('WK-74 WK-60 WK-01 WK-26 it asks before the prompt on, on its route, without what the folder and the person set up', async () => {
    await using rig = await createClaudeAcpRig({
      turns: ['Hello there.', 'Again.', 'I remember.'].map((text) => ofTurn(say(text))),
      change: (cfg) => ({ ...cfg, mcp: 'exact' }),
    })
    const started = `${rig.dir}/users-server-started`
    const theirs = { command: process.execPath, args: [MCP_SERVER, started], env: {} }
    writeFileSync(`${rig.home}/.claude.json`, JSON.stringify({ mcpServers: { theirs } }))
    mkdirSync(`${rig.cwd}/.claude`)
    const settings = { permissions: { defaultMode: 'acceptEdits' }, env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }
    writeFileSync(`${rig.cwd}/.claude/settings.json`, JSON.stringify(settings))
    writeFileSync(`${rig.cwd}/CLAUDE.md`, 'THE FOLDER SAYS AHOY')
    const session = await rig.open()
    expect(session.facts).toMatchObject({ mode: 'ask', modeVerified: true })
    expect(await session.prompt(prompt('hello'))).toMatchObject({ stop: 'end_turn' })
    expect(await session.prompt(prompt('more'))).toMatchObject({ stop: 'end_turn' })
    expect((await session.close(QUICK)).kind).toBe('gone')

    const again = await rig.open(session.id)
    expect(again.facts).toMatchObject({ loaded: true, mode: 'ask', modeVerified: true })
    await again.prompt(prompt('which words?'))
    expect(rig.said()).toBe('Hello there.Again.I remember.')
    const requests = ofTurns(await rig.upstream.requests())
    expect(requests).toHaveLength(3)
    for (const { path, body } of requests) {
      expect(path).toBe(`/r/${ROUTE_ID}/v1/messages`)
      expect(JSON.stringify(body)).not.toContain('THE FOLDER SAYS AHOY')
    }
    expect(existsSync(started)).toBe(false)
  })

  test('WK-74 WK-60 WK-13 a command is asked about once, refused, and the next prompt says why; then one is allowed', async () => {
    await using rig = await createClaudeAcpRig({
      turns: [
        ofTurn(bash('touch made.txt')),
        ofTurn(say('Then not.')),
        ofTurn(bash('touch tests.txt')),
        ofTurn(say('Done.')),
      ],
      decide: (request) => (JSON.stringify(request.action).includes('made') ? refused() : allowed()),
    })
    const session = await rig.open()
    expect(await session.prompt(prompt('make a file'))).toMatchObject({
      stop: 'end_turn',
      refusals: [{ by: 'person' }],
    })
    expect(existsSync(`${rig.cwd}/made.txt`)).toBe(false)
    expect(await session.prompt(prompt('go on'))).toMatchObject({ stop: 'end_turn', refusals: [] })
    expect(rig.requests.map(({ action }) => action)).toMatchObject([
      { kind: 'command', command: 'touch made.txt' },
      { kind: 'command', command: 'touch tests.txt' },
    ])
    expect(existsSync(`${rig.cwd}/tests.txt`)).toBe(true)
    expect(JSON.stringify(ofTurns(await rig.upstream.requests()).at(-1)?.body)).toContain(
      'Only below the folder tests.',
    )
  })

  test('WK-60 WK-16 WK-23 a cancel ends the turn and its command, and close leaves nothing', async () => {
    const afterwards = { match: { bodyIncludes: 'afterwards' }, steps: [say('Still here.')] }
    await using rig = await createClaudeAcpRig({
      // Twice: the agent may ask for something beside the turn, in the same words.
      turns: [ofTurn(bash('echo $$ > pid; exec sleep 300')), afterwards, afterwards],
      decide: allowed,
    })
    const session = await rig.open()
    const turn = session.prompt(prompt('sleep'))
    await until('the command runs', () => existsSync(`${rig.cwd}/pid`) && readFileSync(`${rig.cwd}/pid`, 'utf8') !== '')
    const pid = Number(readFileSync(`${rig.cwd}/pid`, 'utf8'))
    expect(await session.cancel()).toBe('sent')
    expect(await turn).toMatchObject({ stop: 'cancelled' })
    await until('the command is gone', () => !isRunning(pid))
    expect(await session.prompt(prompt('afterwards'))).toMatchObject({ stop: 'end_turn' })
    expect(rig.said()).toContain('Still here.')
    expect((await session.close(QUICK)).kind).toBe('gone')
  })

  test('WK-36 a question in words comes as a form, and the model reads the answer', async () => {
    const asked: InteractionRequest[] = []
    const options = ['Red', 'Blue'].map((label) => ({ label, description: `as ${label}` }))
    const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }]
    await using rig = await createClaudeAcpRig({
      turns: [ofTurn({ toolCall: { name: 'AskUserQuestion', input: { questions } } }), ofTurn(say('Thanks.'))],
      change: (cfg) => ({
        ...cfg,
        interactions: {
          ask(request) {
            asked.push(request)
            return Promise.resolve({ kind: 'answered', body: { question_0: 'Blue' } })
          },
        },
      }),
    })
    const session = await rig.open()
    expect(await session.prompt(prompt('ask me'))).toMatchObject({ stop: 'end_turn', refusals: [] })
    expect(asked).toMatchObject([{ kind: 'form', body: { text: 'Which colour?', fields: [{ id: 'question_0' }, {}] } }])
    expect(JSON.stringify(ofTurns(await rig.upstream.requests()).at(-1)?.body)).toMatch(/Which colour\?.*Blue/)
  })
})
