import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { deny } from '../support/agent-process.ts'
import { aFolder, aModel, anAgent, call, DIALECTS, lives, toolResults } from './support.ts'

/** A server of the Model Context Protocol in a few lines: two pages of tools, and its environment for whoever asks. */
const SERVER = `
import { createInterface } from 'node:readline'
import { writeFileSync } from 'node:fs'
writeFileSync('server.pid', String(process.pid))
const tool = (name) => ({ name, description: name + ' something', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } })
const answer = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'fake', version: '1' } }),
  'tools/list': ({ cursor }) => cursor === undefined ? { tools: [tool('shout')], nextCursor: 'more' } : { tools: [tool('environment')] },
  'tools/call': ({ name, arguments: { text } }) => name === 'shout'
    ? text === '' ? { content: [{ type: 'text', text: 'nothing to shout' }], isError: true } : { content: [{ type: 'text', text: text.toUpperCase() }] }
    : { content: [{ type: 'text', text: JSON.stringify(process.env) }] },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answer[method](params) }) + '\\n')
})
`

async function aServer(): Promise<{ cwd: string; mcpServers: object[] }> {
  const cwd = await aFolder({ 'server.mjs': SERVER })
  const env = [{ name: 'GIVEN', value: 'yes' }]
  return { cwd, mcpServers: [{ name: 'fake', command: process.execPath, args: [join(cwd, 'server.mjs')], env }] }
}

test.each(DIALECTS)(
  "DT-A38 the tools of a session's MCP server are offered, asked for and called, over %s",
  async (dialect) => {
    const { cwd, mcpServers } = await aServer()
    const model = await aModel(
      { calls: [call('mcp__fake__shout', { text: 'hello' }), call('mcp__fake__environment', {})] },
      { text: 'ok' },
    )
    const agent = anAgent(model, { dialect, key: 'route-key' })
    const session = await agent.session(cwd, 'ask', { mcpServers })
    expect((await agent.prompt(session, 'go')).stopReason).toBe('end_turn')

    expect(agent.permissions()[0].toolCall._meta.wheelhouse.action).toEqual({
      kind: 'mcp',
      server: 'fake',
      tool: 'shout',
      input: '{"text":"hello"}',
    })
    const [shout, environment = ''] = toolResults(model)
    expect(shout).toBe('HELLO')
    expect(environment).toContain('GIVEN')
    expect(environment).toContain('WHEELHOUSE_WORKER')
    expect(environment).not.toContain('WHEELHOUSE_MODEL')
    const pid = Number(await readFile(join(cwd, 'server.pid'), 'utf8'))
    await agent.end()
    await expect.poll(() => lives(pid)).toBe(false)
  },
)

test('a denied MCP call never reaches its server, and an error of one is told as such', async () => {
  const { cwd, mcpServers } = await aServer()
  const model = await aModel(
    { calls: [call('mcp__fake__shout', { text: 'x' })] },
    { calls: [call('mcp__fake__shout', { text: '' })] },
    { text: 'ok' },
  )
  const agent = anAgent(model, { dialect: 'messages' })
  const session = await agent.session(cwd, 'ask', { mcpServers })
  let asked = 0
  agent.answerWith((params) => {
    asked += 1
    return asked === 1 ? deny()(params) : { outcome: { outcome: 'selected', optionId: 'allow_once' } }
  })
  await agent.prompt(session, 'go')
  expect(toolResults(model)).toEqual(['Denied by the person.', 'nothing to shout'])
  expect(agent.updates('tool_call_update').at(-1)).toMatchObject({ status: 'failed' })
})

test('an MCP server that does not start makes the session fail by name, and the other one is ended', async () => {
  const { cwd, mcpServers } = await aServer()
  await writeFile(join(cwd, 'broken.mjs'), 'process.exit(3)')
  const broken = { name: 'broken', command: process.execPath, args: [join(cwd, 'broken.mjs')], env: [] }
  const agent = anAgent(null)
  await agent.call('initialize', { protocolVersion: 1 })
  const open = (servers: object[]): Promise<unknown> =>
    agent.call('session/new', { cwd, mcpServers: servers }).catch((thrown: unknown) => thrown)
  expect(await open([...mcpServers, broken])).toMatchObject({
    data: { code: 'mcp_server_unavailable', server: 'broken' },
  })
  const pid = Number(await readFile(join(cwd, 'server.pid'), 'utf8'))
  await expect.poll(() => lives(pid)).toBe(false)
  const remote = { type: 'http', name: 'far', url: 'https://example.invalid', headers: [] }
  expect(await open([remote])).toMatchObject({ data: { code: 'mcp_server_unavailable', server: 'far' } })
})
