import { createServer } from 'node:http'
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import type { AgentProcess } from '../support/agent-process.ts'
import { startAgentProcess } from '../support/agent-process.ts'
import type { FakeModel } from '../support/fake-model.ts'
import { startFakeModel } from '../support/fake-model.ts'
import { aFolder, aModel, anAgent, call, lives, textOf, toolResults } from './support.ts'

/** Runs the calls of one step in a folder and answers what the model was told of each. */
async function results(cwd: string, ...calls: ReturnType<typeof call>[]): Promise<string[]> {
  model.script({ calls }, { text: 'ok' })
  await agent.prompt(await agent.session(cwd, 'anything'), 'go')
  return toolResults(model)
}

let model: FakeModel
let agent: AgentProcess
beforeAll(async () => {
  model = await startFakeModel()
  agent = startAgentProcess({ model: { baseUrl: model.baseUrl, protocol: 'messages' } })
})
afterAll(async () => {
  await agent.end()
  await model.close()
})

test('edit refuses a passage that is missing, repeated or unchanged, and a file that does not exist', async () => {
  const cwd = await aFolder({ 'a.txt': 'one two one\n' })
  const told = await results(
    cwd,
    call('edit', { path: 'a.txt', old_text: 'three', new_text: 'x' }),
    call('edit', { path: 'a.txt', old_text: 'one', new_text: 'x' }),
    call('edit', { path: 'a.txt', old_text: 'two', new_text: 'two' }),
    call('edit', { path: 'b.txt', old_text: 'two', new_text: 'x' }),
  )
  expect(told.map((text) => /does not occur|more than once|the same|does not exist/.exec(text)?.[0])).toEqual([
    'does not occur',
    'more than once',
    'the same',
    'does not exist',
  ])
  expect(await textOf(join(cwd, 'a.txt'))).toBe('one two one\n')
})

test('a file that changes while its diff is being judged is not written', async () => {
  const cwd = await aFolder({ 'a.txt': 'mine\n' })
  const model = await aModel(
    { calls: [call('edit', { path: 'a.txt', old_text: 'mine', new_text: 'theirs' })] },
    { text: 'ok' },
  )
  const agent = anAgent(model)
  agent.answerWith(async () => {
    await writeFile(join(cwd, 'a.txt'), 'mine, and somebody else was here\n')
    return { outcome: { outcome: 'selected', optionId: 'allow_once' } }
  })
  const end = await agent.prompt(await agent.session(cwd), 'go')
  expect(end.stopReason).toBe('end_turn')
  expect(toolResults(model)[0]).toContain('changed since this edit was shown')
  expect(await textOf(join(cwd, 'a.txt'))).toBe('mine, and somebody else was here\n')
  expect(await readdir(cwd)).toEqual(['a.txt'])
})

test('a file that appears while its creation is being judged is not overwritten', async () => {
  const cwd = await aFolder()
  const model = await aModel({ calls: [call('write', { path: 'a.txt', content: 'new' })] }, { text: 'ok' })
  const agent = anAgent(model)
  agent.answerWith(async () => {
    await writeFile(join(cwd, 'a.txt'), 'first')
    return { outcome: { outcome: 'selected', optionId: 'allow_once' } }
  })
  await agent.prompt(await agent.session(cwd), 'go')
  expect(toolResults(model)[0]).toContain('changed since this edit was shown')
  expect(await textOf(join(cwd, 'a.txt'))).toBe('first')
})

test.runIf(process.platform === 'linux')(
  'write into a place that takes no folders is told so, and does not try for good',
  async () => {
    const told = await results(
      await aFolder({}),
      call('write', { path: '/proc/no/such/place/file.txt', content: 'x' }),
      call('write', { path: '/dev/null/file.txt', content: 'x' }),
    )
    expect(told).toHaveLength(2)
    for (const text of told) expect(text).toMatch(/does not exist|lies below something|may not be accessed/)
  },
)

test('write creates missing folders, edit keeps the mode, and a link is written where it leads', async () => {
  const cwd = await aFolder({ 'run.sh': 'echo one\n' })
  await chmod(join(cwd, 'run.sh'), 0o750)
  await symlink('run.sh', join(cwd, 'link.sh'))
  const told = await results(
    cwd,
    call('write', { path: 'deep/er/file.txt', content: 'text\n' }),
    call('edit', { path: 'link.sh', old_text: 'one', new_text: 'two' }),
  )
  expect(told).toEqual([`Created ${join(cwd, 'deep/er/file.txt')}.`, `Edited ${join(cwd, 'run.sh')}.`])
  expect(await textOf(join(cwd, 'deep/er/file.txt'))).toBe('text\n')
  expect(await textOf(join(cwd, 'run.sh'))).toBe('echo two\n')
  expect((await stat(join(cwd, 'run.sh'))).mode & 0o777).toBe(0o750)
  expect((await readdir(cwd)).sort()).toEqual(['deep', 'link.sh', 'run.sh'])
})

test('binary files, folders and special files are refused politely by read and edit', async () => {
  const cwd = await aFolder()
  await writeFile(join(cwd, 'image.png'), Buffer.from([0x89, 0x50, 0, 1, 2]))
  await writeFile(join(cwd, 'latin.txt'), Buffer.from([0x63, 0xe9, 0x0a]))
  const told = await results(
    cwd,
    call('read', { path: 'image.png' }),
    call('read', { path: 'latin.txt' }),
    call('edit', { path: 'image.png', old_text: 'P', new_text: 'Q' }),
    call('read', { path: '.' }),
    call('read', { path: '/dev/zero' }),
  )
  expect(told[0]).toContain('not UTF-8 text')
  expect(told[1]).toContain('not UTF-8 text')
  expect(told[2]).toContain('left alone')
  expect(told[3]).toContain('is a folder')
  expect(told[4]).toContain('not a regular file')
})

test('read goes by lines, says where to go on, and cuts at 256 KiB', async () => {
  const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n + 1}`).join('\n')
  const cwd = await aFolder({ 'lines.txt': lines, 'wide.txt': 'ä'.repeat(200_000), 'empty.txt': '' })
  const told = await results(
    cwd,
    call('read', { path: 'lines.txt', offset: 2, limit: 2 }),
    call('read', { path: 'lines.txt', offset: 2_999 }),
    call('read', { path: 'lines.txt' }),
    call('read', { path: 'wide.txt' }),
    call('read', { path: 'lines.txt', offset: 4_000 }),
    call('read', { path: 'empty.txt' }),
  )
  expect(told[0]).toBe('line 2\nline 3\n[There are more lines. Continue with offset 4.]')
  expect(told[1]).toBe('line 2999\nline 3000')
  expect(told[2]).toMatch(/line 2000\n\[There are more lines\. Continue with offset 2001\.\]$/)
  expect(told[3]).toMatch(/^ä{131072}\n\[Cut at 256 KiB/)
  expect(told[4]).toContain('ends before line 4000')
  expect(told[5]).toBe('')
})

test('search finds lines by expression and glob, passes over .git, node_modules and binary files', async () => {
  const cwd = await aFolder({ 'a.ts': 'const needle = 1\n', 'b.md': 'needle\n' })
  for (const folder of ['.git', 'node_modules', 'src']) {
    await mkdir(join(cwd, folder))
    await writeFile(join(cwd, folder, 'c.ts'), 'x\n  needle here\n')
  }
  await writeFile(join(cwd, 'd.bin'), Buffer.from('needle\0'))
  const told = await results(
    cwd,
    call('search', { pattern: 'need\\w+' }),
    call('search', { pattern: 'needle', glob: '*.ts' }),
    call('search', { pattern: 'needle', glob: 'src/**/*.{ts,js}' }),
    call('search', { pattern: 'nothing' }),
    call('search', { pattern: '(' }),
    call('search', { pattern: 'needle', path: 'missing' }),
    call('list', {}),
  )
  expect(told[0]).toBe('a.ts:1: const needle = 1\nb.md:1: needle\nsrc/c.ts:2:   needle here')
  expect(told[1]).toBe('a.ts:1: const needle = 1\nsrc/c.ts:2:   needle here')
  expect(told[2]).toBe('src/c.ts:2:   needle here')
  expect(told[3]).toBe('No matches.')
  expect(told[4]).toContain('no valid regular expression')
  expect(told[5]).toContain('does not exist')
  expect(told[6]).toBe('.git/\na.ts\nb.md\nd.bin\nnode_modules/\nsrc/')
})

test('a catastrophic pattern is stopped and told, not waited for', async () => {
  const cwd = await aFolder({ 'a.txt': `${'a'.repeat(60)}!\n` })
  const told = await results(cwd, call('search', { pattern: '^(a+)+$' }))
  expect(told[0]).toContain('takes too long')
})

test('bash tells its exit code, and its output is kept from both ends within 256 KiB', async () => {
  const cwd = await aFolder()
  const told = await results(
    cwd,
    call('bash', { command: 'echo out; echo err >&2; exit 3' }),
    call('bash', { command: 'echo first; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo last' }),
    call('bash', { command: 'pwd', cwd: '/' }),
    call('bash', { command: 'pwd', cwd: 'missing' }),
  )
  expect(told[0]).toBe('out\nerr\n[exit code 3]')
  expect(told[1]?.startsWith('first\nxxx')).toBe(true)
  expect(told[1]?.endsWith('xxx\nlast\n[exit code 0]')).toBe(true)
  expect(told[1]).toMatch(/\n\[\d+ bytes left out\]\n/)
  expect(told[1]?.length).toBeLessThan(263_000)
  expect(told[2]).toBe('/\n[exit code 0]')
  expect(told[3]).toContain('does not exist')
})

test('a command that outlives its time limit is ended with everything it started', async () => {
  const cwd = await aFolder()
  const told = await results(
    cwd,
    call('bash', { command: 'sleep 600 & echo $!; sleep 600', timeout_ms: 300 }),
    call('bash', { command: 'echo after' }),
  )
  expect(told[0]).toMatch(/^\d+\n\[ended by its time limit of 300 ms\]$/)
  expect(told[1]).toBe('after\n[exit code 0]')
  const pid = Number(told[0]?.split('\n')[0])
  await expect.poll(() => lives(pid)).toBe(false)
})

test('output is shown while the command runs', async () => {
  const cwd = await aFolder()
  const model = await aModel(
    { calls: [call('bash', { command: 'echo early; until [ -e go ]; do sleep 0.05; done' })] },
    { text: 'ok' },
  )
  const agent = anAgent(model)
  const prompt = agent.prompt(await agent.session(cwd, 'anything'), 'go')
  await agent.waitFor((frame) => JSON.stringify(frame.params?.update?.content ?? '').includes('early'))
  await writeFile(join(cwd, 'go'), '')
  expect((await prompt).stopReason).toBe('end_turn')
  const last = agent.updates('tool_call_update').at(-1)
  expect(last).toMatchObject({ status: 'completed', rawOutput: { exitCode: 0 } })
})

test('fetch reads a page as text, tells a redirect instead of following it, and refuses other schemes', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/page' }).end()
    else if (request.url === '/missing') response.writeHead(404, { 'content-type': 'text/plain' }).end('not here')
    else if (request.url === '/image') response.writeHead(200).end(Buffer.from([0, 1, 2]))
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<h1>A &amp; B</h1><script>let x = 1</script><p>Text</p>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const told = await results(
    await aFolder(),
    call('fetch', { url: `${origin}/page` }),
    call('fetch', { url: `${origin}/moved` }),
    call('fetch', { url: `${origin}/missing` }),
    call('fetch', { url: `${origin}/image` }),
    call('fetch', { url: 'file:///etc/passwd' }),
    call('fetch', { url: 'http://127.0.0.1:1/' }),
  )
  expect(told[0]).toBe('A & B\nText')
  expect(told[1]).toBe(`[302: it has moved to ${origin}/page]`)
  expect(told[2]).toBe('[status 404]\nnot here')
  expect(told[3]).toContain('not UTF-8 text')
  expect(told[4]).toContain('nvalid')
  expect(told[5]).toContain('cannot be reached')
})
