/** claude-agent-acp: by itself it reads the settings of the folder, and starts every MCP server that the person has. */
import { fixedEnv, settingSources } from '../../claude/launch.ts'
import { NOTHING } from './types.ts'
import type { AdapterParts, Prepared } from './types.ts'

export function prepareClaude({ cfg }: AdapterParts): Prepared {
  const options = {
    settingSources: settingSources(cfg.folderTrusted),
    // One more model request per turn, for a suggestion that nobody is shown.
    promptSuggestions: false,
    ...(cfg.mcp === 'exact' ? { strictMcpConfig: true } : {}),
  }
  return { ...NOTHING, env: fixedEnv(cfg), sessionMeta: { claudeCode: { options } } }
}
