import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allow, card, denyWithReason, send } from '../e2e/support/walk.ts'
import { createCodexHost, KEY, MODEL } from './codex-host.ts'
import { until } from './codex-session.ts'
import { describeWithAgent } from './installed.ts'
import { filesWith, processesWith, routeDigest } from './leaks.ts'
import { askPlainCodex, resumePlainCodex } from './plain-codex.ts'
import { ofWorkers } from './processes.ts'
import type { Step } from './upstream.ts'

const run = (cmd: string): Step => ({ toolCall: { name: 'exec_command', input: { cmd } } })
const say = (text: string): Step => ({ text })

describeWithAgent('codex', 'the real Codex through the whole product', () => {
  test('a click on a card allows one command, the next click denies one', async () => {
    await using rig = await createCodexHost({
      turns: [
        { steps: [run('touch made.txt && echo done')] },
        { steps: [say('Made it.')] },
        { steps: [run('touch denied.txt')] },
        { steps: [say('Then not.')] },
      ],
    })
    const { page, session } = rig
    await send(page, 'make a file')
    await allow(page, /^touch made.txt/)
    await rig.ended('make a file', 'Completed')
    await send(page, 'make another')
    await card(page, /^touch denied/)
      .getByRole('button', { name: 'Deny: ' })
      .click()
    await rig.ended('make another', 'Completed')
    expect(existsSync(`${rig.workDir}/made.txt`)).toBe(true)
    expect(existsSync(`${rig.workDir}/denied.txt`)).toBe(false)

    const runs = await rig.runs()
    expect(runs).toMatchObject([
      { state: 'completed', error: null, model: MODEL, provider: session.choice.connectionId, source: 'browser' },
      { state: 'completed', error: null, model: MODEL, provider: session.choice.connectionId, source: 'browser' },
    ])
    const { decisions } = await rig.call('decisions.history', { sessionId: session.id })
    const by = { via: 'browser', connection: rig.frames.generations()[0] }
    const settled = { status: 'resolved', told: 'sent', by }
    const [first, second] = runs
    expect(decisions).toMatchObject([
      { ...settled, runId: second?.runId, answer: { option: 'reject_once' }, title: 'touch denied.txt' },
      { ...settled, runId: first?.runId, answer: { option: 'allow_once' }, title: 'touch made.txt && echo done' },
    ])

    const exchanges = await rig.upstream.requests()
    const asked = exchanges.map(({ path, body, headers }) => [path, body.model, headers['authorization']])
    expect(asked).toEqual(Array.from({ length: 4 }, () => ['/v1/responses', MODEL, `Bearer ${KEY}`]))
    expect([...new Set(exchanges.map(({ headers }) => headers['thread-id']))]).toEqual([rig.threadId()])
    expect(exchanges.filter(({ headers }) => 'chatgpt-account-id' in headers)).toEqual([])
    expect(existsSync(`${rig.codexHome}/config.toml`)).toBe(false)
    expect(existsSync(`${rig.codexHome}/auth.json`)).toBe(false)
  })

  test("the person's own configuration and login stay as they are, and the login is sent nowhere", async () => {
    const config = [
      '# what I know of this file, nobody else needs to\n',
      'model_reasoning_effort = "low" # cheap\n',
      '\n[mcp_servers.mine]\ncommand = "/bin/false" # broken, and mine\n',
    ].join('')
    const canaries = ['sk-canary-of-the-login', 'canary-access', 'canary-refresh', 'canary-account']
    const [key, access, refresh, account] = canaries
    const auth = JSON.stringify({
      OPENAI_API_KEY: key,
      tokens: { id_token: fakeJwt(), access_token: access, refresh_token: refresh, account_id: account },
      last_refresh: new Date().toISOString(),
    })
    await using rig = await createCodexHost({
      turns: [{ steps: [run('touch said.txt')] }, { steps: [say('Said it.')] }],
      codexFiles: { 'config.toml': config, 'auth.json': auth },
    })
    await send(rig.page, 'say it')
    await allow(rig.page, /^touch said.txt/)
    await rig.ended('say it', 'Completed')
    await rig.app.stop()
    expect(readFileSync(`${rig.codexHome}/config.toml`, 'utf8')).toBe(config)
    expect(readFileSync(`${rig.codexHome}/auth.json`, 'utf8')).toBe(auth)
    const sent = JSON.stringify(await rig.upstream.requests())
    expect(sent).toContain(KEY)
    expect(canaries.filter((canary) => sent.includes(canary))).toEqual([])
    const kept = filesWith({ texts: canaries, digests: [] }, [rig.home, rig.dataDir])
    expect(kept).toEqual([`${rig.codexHome}/auth.json`])
  })

  test('plain Codex lists the conversation and goes on with it once Wheelhouse is gone', async () => {
    await using rig = await createCodexHost({
      turns: [{ steps: [say('I am told.')] }, { steps: [say('I remember.')] }],
    })
    await send(rig.page, 'remember the blue door')
    await rig.ended('remember the blue door', 'Completed')
    const threadId = rig.threadId()
    await rig.app.stop()
    expect(ofWorkers(rig.workerIds())).toEqual([])
    rmSync(rig.dataDir, { recursive: true })

    const env = { ...rig.env, CODEX_API_KEY: 'a-key-of-the-shell' }
    expect(await askPlainCodex(env, 'thread/list', {})).toMatchObject({
      data: [{ id: threadId, modelProvider: 'openai', preview: 'remember the blue door', cwd: rig.workDir }],
    })
    const { port } = rig.upstream
    const printed = await resumePlainCodex({ env, cwd: rig.workDir, threadId, prompt: 'which door?', port })
    expect(printed).toContain('I remember.')
    const last = (await rig.upstream.requests()).at(-1)
    expect(last?.headers).toMatchObject({ 'thread-id': threadId, authorization: 'Bearer a-key-of-the-shell' })
    expect(JSON.stringify(last?.body)).toMatch(/remember the blue door.*I am told\..*which door\?/)
  })

  test('WK-65 a host that is killed in mid-run leaves no process, no gap and no doubt about the run', async () => {
    const stubborn = `setsid -f sh -c "trap '' TERM HUP; touch up; sleep 600"; sleep 600`
    await using rig = await createCodexHost({ turns: [{ steps: [run(stubborn)] }] })
    const { page, session } = rig
    await page.evaluate(() => (document.documentElement.dataset['tab'] = 'the same'))
    await send(page, 'run for long')
    await allow(page, /^setsid/)
    await until('the command runs', () => existsSync(`${rig.workDir}/up`))
    const threadId = rig.threadId()
    const workerIds = rig.workerIds()
    await rig.app.kill()
    await page.getByText(/^Wheelhouse has not answered since/).waitFor()
    expect(ofWorkers(workerIds)).not.toEqual([])

    const startedAtMs = performance.now()
    await rig.app.restart()
    // Two seconds, or on a machine that is slow, as long as the start itself took.
    await sleep(Math.max(2_000, performance.now() - startedAtMs))
    expect(ofWorkers(workerIds).map(({ argv }) => argv)).toEqual([])
    await rig.ended('run for long', 'Failed')
    const failed = rig.turn('run for long').getByRole('group', { name: 'Failed' })
    expect(await failed.innerText()).toMatch(
      /Wheelhouse ended while this run was under way\.[^]*may have changed something/,
    )
    const [lost] = await rig.runs()
    expect(lost).toMatchObject({ state: 'failed', recovered: true, sideEffects: 'unknown' })
    expect(lost?.error).toMatchObject({
      code: 'owner_lost',
      sideEffectState: 'unknown',
      retryMode: 'decision_required',
    })

    await rig.upstream.script({ steps: [say('Here again.')] })
    await send(page, 'are you there?')
    await rig.turn('are you there?').getByText('Here again.').waitFor()
    await rig.ended('are you there?', 'Completed')
    expect(rig.threadId()).toBe(threadId)
    const last = (await rig.upstream.requests()).at(-1)
    expect(last?.headers['thread-id']).toBe(threadId)
    expect(JSON.stringify(last?.body)).toContain('run for long')
    // The same page, over two connections, has seen each event once.
    expect(await page.evaluate(() => document.documentElement.dataset['tab'])).toBe('the same')
    expect(rig.frames.generations()).toHaveLength(2)
    const { headSeq } = await rig.call('sessions.get', { sessionId: session.id })
    const seqs = rig.frames.seqs(session.id)
    expect(seqs).toEqual(Array.from({ length: headSeq }, (_, index) => index + 1))
  })

  test('key and route id stand in no file but the credential store, and in no process', async () => {
    await using rig = await createCodexHost({
      turns: [{ steps: [run('touch seen.txt && env')] }, { steps: [say('Looked.')] }],
    })
    const folders = [rig.home, rig.dataDir, rig.workDir]
    await send(rig.page, 'look round')
    await card(rig.page, /^touch seen.txt/).waitFor()
    const wanted = { texts: [KEY], digests: rig.routeDigests() }
    expect(wanted.digests).toHaveLength(1)
    expect(processesWith(wanted)).toEqual([])
    await allow(rig.page, /^touch seen.txt/)
    await rig.ended('look round', 'Completed')
    expect(processesWith(wanted)).toEqual([])
    // What is planted is found, else finding nothing says nothing.
    const planted = randomBytes(32).toString('base64url')
    const forms = [
      `/r/${planted}/v1`,
      Buffer.from(`ab/r/${planted}`).toString('base64'),
      Buffer.from(planted, 'utf16le'),
    ]
    for (const [index, form] of forms.entries()) writeFileSync(`${rig.workDir}/planted-${index}`, form)
    const { credentialBackend } = await rig.call('providers.list', {})
    const found = filesWith({ ...wanted, digests: [...wanted.digests, routeDigest(planted)] }, folders)
    const elsewhere = found.filter((path) => !path.startsWith(`${rig.dataDir}/providers/secrets/`))
    expect(elsewhere.toSorted()).toEqual(forms.map((_, index) => `${rig.workDir}/planted-${index}`))
    expect(found.length > elsewhere.length).toBe(credentialBackend === 'file')
    expect(JSON.stringify(await rig.runs())).not.toContain(KEY)
    await rig.app.stop()
    expect(filesWith(wanted, folders).filter((path) => !path.includes('/providers/secrets/'))).toEqual([])
  })

  test('WK-68 the reason of a denial reaches the model', async () => {
    await using rig = await createCodexHost({
      turns: [
        { steps: [run('touch denied.txt')] },
        { steps: [{ wait: 'steered' }, say('I see.')] },
        { steps: [say('Then elsewhere.')] },
      ],
    })
    const { page, upstream } = rig
    await send(page, 'make a file')
    await denyWithReason(page, /^touch denied.txt/, 'Only below the folder tests.')
    // What is settled is one line, that opens.
    await rig
      .turn('make a file')
      .getByRole('button', { name: /^touch denied/, expanded: false })
      .click()
    await rig.turn('make a file').getByText('The answer reached the agent.').waitFor()
    await until('the model is asked again', async () => (await upstream.requests()).length === 2)
    await upstream.release('steered')
    await rig.ended('make a file', 'Completed')
    expect(existsSync(`${rig.workDir}/denied.txt`)).toBe(false)
    expect(JSON.stringify((await upstream.requests()).at(-1)?.body)).toContain('Only below the folder tests.')
    const { decisions } = await rig.call('decisions.history', { sessionId: rig.session.id })
    expect(decisions).toMatchObject([{ answer: { option: 'reject_once', reason: 'Only below the folder tests.' } }])
    await rig.turn('make a file').getByText('Reason: Only below the folder tests.').waitFor()
  })
})

/** As much of a ChatGPT login as Codex reads. */
function fakeJwt(): string {
  const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url')
  return [part({ alg: 'none' }), part({ email: 'me@example.org', exp: 4_102_444_800 }), 'c2ln'].join('.')
}
