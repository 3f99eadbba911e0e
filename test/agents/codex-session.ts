/** A session of the real Codex against the scripted model server. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createSecret } from '../../src/main/platform/index.ts'
import { createCodexDriver } from '../../src/main/workers/drivers/codex/index.ts'
import { ROUTE_ID, createAgentRig } from './agent-session.ts'
import type { AgentRig, RigAgent, RigOptions } from './agent-session.ts'

export { ROUTE_ID, allow, prompt, refuse, until } from './agent-session.ts'

export interface CodexRig extends AgentRig {
  codexHome: string
  userConfig(): string
}

export const codex: RigAgent = {
  driver: 'codex',
  factory: createCodexDriver,
  env: (home) => ({ CODEX_HOME: `${home}/.codex` }),
  route({ port }, dir) {
    const catalog = `${dir}/catalog.json`
    writeFileSync(catalog, JSON.stringify({ models: ['fake-large', 'fake-small'].map(catalogEntry) }))
    return {
      argv: [
        '-c',
        'cli_auth_credentials_store="ephemeral"',
        '-c',
        'forced_login_method="api"',
        '-c',
        'features.enable_request_compression=false',
        '-c',
        'features.plugins=false',
        '-c',
        'analytics.enabled=false',
        '-c',
        `model_catalog_json=${JSON.stringify(catalog)}`,
      ],
      config: {
        model_provider: 'openai',
        openai_base_url: `http://127.0.0.1:${port}/v1`,
        model: 'fake-large',
      },
      key: createSecret(ROUTE_ID),
      envSet: { NO_PROXY: '127.0.0.1,localhost,::1', no_proxy: '127.0.0.1,localhost,::1' },
      envUnset: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL'],
    }
  },
}

export async function createCodexRig(options: RigOptions = {}): Promise<CodexRig> {
  const rig = await createAgentRig(codex, options)
  const codexHome = `${rig.home}/.codex`
  mkdirSync(codexHome, { mode: 0o700 })
  return {
    ...rig,
    codexHome,
    userConfig() {
      try {
        return readFileSync(`${codexHome}/config.toml`, 'utf8')
      } catch {
        return ''
      }
    },
  }
}

/** The smallest entry that Codex reads, with a shell and apply_patch. */
function catalogEntry(slug: string, priority: number): Record<string, unknown> {
  return {
    slug,
    display_name: slug,
    supported_reasoning_levels: ['low', 'medium', 'high'].map((effort) => ({ effort, description: effort })),
    default_reasoning_level: 'medium',
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    base_instructions: 'You are a scripted model.',
    supports_reasoning_summaries: true,
    default_reasoning_summary: 'auto',
    support_verbosity: false,
    apply_patch_tool_type: 'freeform',
    truncation_policy: { mode: 'bytes', limit: 10_000 },
    experimental_supported_tools: [],
    context_window: 200_000,
  }
}
