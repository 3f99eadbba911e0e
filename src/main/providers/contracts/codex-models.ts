/**
 * What the installed Codex knows about models: its own cache, read only. It is evidence, never an allowlist: a model it
 * does not name launches and routes under its own name.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { Effort } from '../../../shared/vocabulary.ts'
import { readPlain } from '../../platform/index.ts'

const MAX_BYTES = 8 * 1024 * 1024

const Level = z.union([z.string(), z.looseObject({ effort: z.string(), description: z.string().optional() })])
/** A word that a later Codex adds is one that this one would refuse: what is in another form is as if it were not there. */
const Truncation = z
  .object({ mode: z.enum(['bytes', 'tokens']), limit: z.int().positive() })
  .nullish()
  .catch(null)
const Verbosity = z.enum(['low', 'medium', 'high']).nullish().catch(null)

const CachedModel = z.looseObject({
  slug: z.string().min(1).max(256),
  display_name: z.string().max(256).optional(),
  base_instructions: z.string().optional(),
  supported_reasoning_levels: z.array(Level).optional(),
  default_reasoning_level: z.string().nullish(),
  context_window: z.number().int().positive().nullish(),
  input_modalities: z.array(z.string()).optional(),
  apply_patch_tool_type: z.string().nullish(),
  supports_parallel_tool_calls: z.boolean().optional(),
  supports_reasoning_summaries: z.boolean().optional(),
  support_verbosity: z.boolean().optional(),
  default_verbosity: Verbosity,
  truncation_policy: Truncation,
  description: z.string().nullish(),
  visibility: z.string().optional(),
})
const Cache = z.looseObject({ models: z.array(z.unknown()).max(5_000) })

export interface CodexModel {
  slug: string
  displayName: string | null
  baseInstructions: string | null
  efforts: readonly Effort[]
  effortDefault: Effort | null
  contextWindow: number | null
  inputModalities: readonly string[] | null
  applyPatchToolType: string | null
  parallelToolCalls: boolean
  reasoningSummaries: boolean
  verbosity: boolean
  verbosityDefault: 'low' | 'medium' | 'high' | null
  truncation: { readonly mode: 'bytes' | 'tokens'; readonly limit: number } | null
  description: string | null
  listed: boolean
}

/** `$CODEX_HOME/models_cache.json`; empty when there is none or it is in no form we know. Never throws. */
export async function readCodexModels(codexHome: string): Promise<readonly CodexModel[]> {
  const path = join(codexHome, 'models_cache.json')
  try {
    return parseCodexModels(JSON.parse((await readPlain(path, MAX_BYTES)).toString('utf8')))
  } catch {
    return []
  }
}

export function parseCodexModels(value: unknown): readonly CodexModel[] {
  const cache = Cache.safeParse(value)
  if (!cache.success) return []
  return cache.data.models.flatMap((entry) => {
    const parsed = CachedModel.safeParse(entry)
    return parsed.success ? [toModel(parsed.data)] : []
  })
}

function toModel(entry: z.infer<typeof CachedModel>): CodexModel {
  const levels = (entry.supported_reasoning_levels ?? []).map((level) =>
    typeof level === 'string' ? level : level.effort,
  )
  const fallback = toEffort(entry.default_reasoning_level ?? '')
  return {
    slug: entry.slug,
    displayName: entry.display_name ?? null,
    baseInstructions:
      entry.base_instructions === undefined || entry.base_instructions === '' ? null : entry.base_instructions,
    efforts: levels.flatMap((level) => toEffort(level) ?? []),
    effortDefault: fallback,
    contextWindow: entry.context_window ?? null,
    inputModalities: entry.input_modalities ?? null,
    applyPatchToolType: entry.apply_patch_tool_type ?? null,
    parallelToolCalls: entry.supports_parallel_tool_calls ?? false,
    reasoningSummaries: entry.supports_reasoning_summaries ?? false,
    verbosity: entry.support_verbosity ?? false,
    verbosityDefault: entry.default_verbosity ?? null,
    truncation: entry.truncation_policy ?? null,
    description: entry.description ?? null,
    listed: entry.visibility === undefined || entry.visibility === 'list',
  }
}

/** `none` is Codex's spelling of off; words that we do not know are dropped. */
function toEffort(word: string): Effort | null {
  if (word === 'none') return 'off'
  const parsed = Effort.safeParse(word)
  return parsed.success && parsed.data !== 'default' ? parsed.data : null
}
