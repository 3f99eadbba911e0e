/** Sessions of the real ACP adapters against the scripted model server. */
import { mkdirSync } from 'node:fs'
import { createAcpDriver, customProfile } from '../../src/main/workers/drivers/acp/index.ts'
import { ROUTE_ID, createAgentRig } from './agent-session.ts'
import type { AgentRig, RigAgent, RigOptions } from './agent-session.ts'
import { codex } from './codex-session.ts'

export { ROUTE_ID, allow, prompt, refuse, until } from './agent-session.ts'

const profileOf = (command: string): NonNullable<RigAgent['profile']> =>
  customProfile({ id: `acp:${command}`, product: command, command, args: [], env: {} })

const codexAcp: RigAgent = {
  ...codex,
  driver: 'acp',
  factory: createAcpDriver,
  profile: profileOf('codex-acp'),
}

const claudeAcp: RigAgent = {
  driver: 'acp',
  factory: createAcpDriver,
  profile: profileOf('claude-agent-acp'),
  env: () => ({ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
  route: ({ port }) => ({
    argv: [],
    config: {},
    envSet: {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}/r/${ROUTE_ID}`,
      ANTHROPIC_AUTH_TOKEN: 'a-placeholder',
      ANTHROPIC_MODEL: 'fake-large',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'fake-large',
      CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: '1',
      NO_PROXY: '127.0.0.1,localhost,::1',
      no_proxy: '127.0.0.1,localhost,::1',
    },
    envUnset: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'],
  }),
}

export async function createCodexAcpRig(options: RigOptions = {}): Promise<AgentRig & { codexHome: string }> {
  const rig = await createAgentRig(codexAcp, options)
  const codexHome = `${rig.home}/.codex`
  mkdirSync(codexHome, { mode: 0o700 })
  return { ...rig, codexHome }
}

export function createClaudeAcpRig(options: RigOptions = {}): Promise<AgentRig> {
  return createAgentRig(claudeAcp, options)
}
