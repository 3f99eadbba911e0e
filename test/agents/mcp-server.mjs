// A small MCP server over stdio with one tool. With an argument it leaves a file there as soon as it starts.
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

if (process.argv[2] !== undefined) writeFileSync(process.argv[2], '')
const tool = {
  name: 'poke',
  description: 'Pokes.',
  inputSchema: { type: 'object', properties: { how: { type: 'string' } } },
}
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'poker', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: `poked ${params.arguments.how}` }] }),
}
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = results[method]?.(params) ?? {}
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
})
lines.on('close', () => process.exit(0))
