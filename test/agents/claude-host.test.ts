import { execFile } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { allow, card, denyWithReason, send } from '../e2e/support/walk.ts'
import { KEY, MODEL, createAgentHost } from './agent-host.ts'
import { bash, say } from './claude-session.ts'
import { describeWithAgent } from './installed.ts'
import { filesWith, processesWith } from './leaks.ts'
import { ofWorkers } from './processes.ts'

// A program of 245 MB takes its time to start on a machine that does other things.
vi.setConfig({ testTimeout: 300_000 })

/** What it would send to its maker is no part of these tests. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }

describeWithAgent('claude', 'the real Claude Code through the whole product', () => {
  test('WK-62 cards allow and deny, the key reaches the upstream alone, and plain Claude Code goes on afterwards', async () => {
    await using rig = await createAgentHost({
      agent: 'claude',
      turns: [
        { steps: [bash('touch made.txt && env')] },
        { steps: [say('Made it.')] },
        { steps: [bash('touch denied.txt')] },
        { steps: [say('Then elsewhere.')] },
        { steps: [say('I remember.')] },
      ],
      homeFiles: {
        '.claude/settings.json': JSON.stringify({ env: QUIET, permissions: { allow: ['Bash'] } }),
        '.claude/CLAUDE.md': 'THE PERSON SAYS AHOY',
      },
    })
    const { page, upstream } = rig
    await send(page, 'make a file')
    await card(page, /^touch made.txt/).waitFor()
    const wanted = { texts: [KEY], digests: rig.routeDigests() }
    expect(wanted.digests).toHaveLength(1)
    expect(processesWith(wanted)).toEqual([])
    await allow(page, /^touch made.txt/)
    await rig.ended('make a file', 'Completed')
    await send(page, 'make another')
    await denyWithReason(page, /^touch denied/, 'Only below the folder tests.')
    await rig.ended('make another', 'Completed')
    expect(existsSync(`${rig.workDir}/made.txt`)).toBe(true)
    expect(existsSync(`${rig.workDir}/denied.txt`)).toBe(false)
    expect(await rig.runs()).toMatchObject([
      { state: 'completed', error: null, model: MODEL },
      { state: 'completed', error: null, model: MODEL },
    ])

    const exchanges = await upstream.requests()
    expect(exchanges.map(({ body, headers }) => [body.model, headers['authorization'], headers['x-api-key']])).toEqual(
      Array.from({ length: 4 }, () => [MODEL, `Bearer ${KEY}`, undefined]),
    )
    for (const { body } of exchanges) expect(JSON.stringify(body)).toContain('THE PERSON SAYS AHOY')
    expect(JSON.stringify(exchanges.at(-1)?.body)).toContain('Only below the folder tests.')
    const folders = [rig.home, rig.dataDir, rig.workDir]
    expect(filesWith(wanted, folders).filter((path) => !path.includes('/providers/secrets/'))).toEqual([])

    const sessionId = rig.agentSessionId()
    await rig.app.stop()
    expect(ofWorkers(rig.workerIds())).toEqual([])
    rmSync(rig.dataDir, { recursive: true })
    const asked = promisify(execFile)('claude', ['-p', 'which file?', '--resume', sessionId], {
      cwd: rig.workDir,
      timeout: 90_000,
      killSignal: 'SIGKILL',
      env: {
        ...rig.env,
        ...QUIET,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${upstream.port}`,
        ANTHROPIC_AUTH_TOKEN: 'of-the-shell',
      },
    })
    asked.child.stdin?.end()
    expect((await asked).stdout).toContain('I remember.')
    expect(JSON.stringify((await upstream.requests()).at(-1)?.body)).toMatch(/make a file.*Made it\..*which file\?/)
  })

  test('PR-A71 WK-62 a project counts once it is trusted by a click, and even then nothing leads round the Router', async () => {
    const hook = { type: 'command', command: 'touch "$HOME/hook-ran"' }
    const settings = (env: object): string =>
      JSON.stringify({
        env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ...env },
        permissions: { defaultMode: 'acceptEdits' },
        hooks: { UserPromptSubmit: [{ hooks: [hook] }] },
      })
    await using rig = await createAgentHost({
      agent: 'claude',
      turns: ['One.', 'Two.', 'Three.'].map((text) => ({ steps: [say(text)] })),
      homeFiles: { '.claude/settings.json': JSON.stringify({ env: QUIET }) },
      projectFiles: {
        '.git/HEAD': 'ref: refs/heads/main\n',
        'CLAUDE.md': 'THE PROJECT SAYS AHOY',
        '.claude/settings.json': settings({ ANTHROPIC_UNIX_SOCKET: '/nowhere.sock' }),
      },
    })
    const { page, upstream, workDir } = rig
    const trace = `${rig.home}/hook-ran`
    const bodies = async (): Promise<string[]> => (await upstream.requests()).map(({ body }) => JSON.stringify(body))
    const question = page.getByRole('region', { name: 'Do you trust this project?' })
    await question.getByText('UserPromptSubmit: touch').waitFor()
    await send(page, 'first')
    await rig.ended('first', 'Completed')
    await rig.turn('first').getByText('is left out: .claude/settings.json, CLAUDE.md.').waitFor()
    expect((await bodies()).filter((body) => body.includes('THE PROJECT SAYS AHOY'))).toEqual([])
    expect(existsSync(trace)).toBe(false)
    const before = rig.workerIds().length

    await question.getByRole('button', { name: 'Trust' }).click()
    await page.getByRole('link', { name: 'Project trusted' }).waitFor()
    expect(await question.count()).toBe(0)
    await send(page, 'second')
    await rig.ended('second', 'Failed')
    const [, refused] = await rig.runs()
    expect(refused?.error).toMatchObject({ detail: expect.stringContaining(`${workDir}/.claude/settings.json`) })
    expect(rig.workerIds()).toHaveLength(before)

    writeFileSync(`${workDir}/.claude/settings.json`, settings({}))
    const conversation = rig.agentSessionId()
    await send(page, 'third')
    await rig.ended('third', 'Completed')
    expect(rig.agentSessionId()).toBe(conversation)
    expect(existsSync(trace)).toBe(true)
    const exchanges = await upstream.requests()
    expect(exchanges.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`)
    expect((await bodies()).at(-1)).toMatch(/first.*third/)
    expect((await bodies()).at(-1)).toContain('THE PROJECT SAYS AHOY')

    await rig.call('trust.withdraw', { folder: workDir })
    await question.waitFor()
    await send(page, 'fourth')
    await rig.ended('fourth', 'Completed')
    expect((await bodies()).at(-1)).not.toContain('THE PROJECT SAYS AHOY')
  })
})
