/** A session of the real Claude Code against the scripted model server. */
import { createSecret } from '../../src/main/platform/index.ts'
import { createClaudeDriver } from '../../src/main/workers/drivers/claude/index.ts'
import { ROUTE_ID, createAgentRig } from './agent-session.ts'
import type { AgentRig, RigAgent, RigOptions } from './agent-session.ts'
import type { Step } from './upstream.ts'

export { ROUTE_ID, allow, prompt, refuse } from './agent-session.ts'

const claude: RigAgent = {
  driver: 'claude',
  factory: createClaudeDriver,
  // What it would send to its maker is no part of these tests.
  env: () => ({ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
  route: ({ port }) => ({
    argv: ['--model', 'fake-large'],
    config: {},
    key: createSecret(ROUTE_ID),
    envSet: {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR: '3',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'fake-large',
      NO_PROXY: '127.0.0.1,localhost,::1',
      no_proxy: '127.0.0.1,localhost,::1',
    },
    envUnset: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  }),
}

export function createClaudeRig(options: RigOptions = {}): Promise<AgentRig> {
  return createAgentRig(claude, options)
}

export function bash(command: string): Step {
  return { toolCall: { name: 'Bash', input: { command, description: 'As scripted' } } }
}

export const say = (text: string): Step => ({ text })
