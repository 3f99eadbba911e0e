import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROUTE_ID, allow, createCodexRig, prompt } from './codex-session.ts'
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
})
