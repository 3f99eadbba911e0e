/** What of the person's `config.toml` a session depends on. Codex itself says what is wrong with one that cannot be read. */
import { open } from 'node:fs/promises'
import { parse } from 'smol-toml'
import { z } from 'zod'

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
    await using file = await open(path)
    if ((await file.stat()).size > MAX_BYTES) return {}
    return CodexConfig.parse(parse(await file.readFile('utf8')))
  } catch {
    return {}
  }
}
