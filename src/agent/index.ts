/**
 * The built-in agent: an ACP agent of our own, a worker like any other. A process of its own, started by the supervisor;
 * standard input and output carry the protocol and nothing else.
 */
import { Console } from 'node:console'

import { startAgent } from './agent.ts'
import { readAgentEnvironment } from './environment.ts'

// A library's warning on standard output would be a malformed frame.
globalThis.console = new Console(process.stderr, process.stderr)

const environment = readAgentEnvironment(process.env)
const agent = startAgent({
  environment,
  input: process.stdin,
  output: process.stdout,
})

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.once(signal, () => {
    agent.kill()
    process.exit(0)
  })
}
process.once('exit', () => agent.kill())

await agent.closed
process.exit(0)
