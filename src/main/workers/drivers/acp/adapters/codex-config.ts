/** What of the person's `config.toml` a session depends on. Codex itself says what is wrong with one that cannot be read. */
import { parse } from 'smol-toml'
import { z } from 'zod'
import { readPlain } from '../../../../platform/index.ts'

const MAX_BYTES = 1_048_576

export const CodexConfig = z.object({
  mcp_servers: z.record(z.string(), z.unknown()).nullish().catch(null),
  projects: z
    .record(z.string(), z.object({ trust_level: z.unknown() }).catch({ trust_level: null }))
    .nullish()
    .catch(null),
  shell_environment_policy: z
    .object({ exclude: z.array(z.string()).nullish(), set: z.record(z.string(), z.string()).nullish() })
    .nullish()
    .catch(null),
})
export type CodexConfig = z.infer<typeof CodexConfig>

export async function readCodexConfig(path: string): Promise<CodexConfig> {
  try {
    return CodexConfig.parse(parse((await readPlain(path, MAX_BYTES)).toString('utf8')))
  } catch {
    return {}
  }
}
