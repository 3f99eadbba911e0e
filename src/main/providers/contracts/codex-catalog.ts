/**
 * The model catalog that a Codex launch is handed. One malformed entry makes Codex reject the whole file, so only the
 * fields below are written. It replaces the system prompt of each entry by `base_instructions`: those are the installed
 * Codex's own words, and without them no entry is made.
 */
import type { CodexModel } from './codex-models.ts'

const TRUNCATION = { mode: 'bytes', limit: 10_000 } as const
const MAX_BYTES = 2 * 1024 * 1024

const LEVELS: Readonly<Record<string, string>> = {
  minimal: 'The least reasoning',
  low: 'Quick, with little reasoning',
  medium: 'A balance of speed and depth',
  high: 'Deep reasoning for hard problems',
  xhigh: 'The deepest reasoning',
  max: 'All the reasoning the model can do',
}

/**
 * The JSON text: the bound model first, then those that the installed Codex knows, as many as it reads. Null: no entry can
 * be made, and Codex uses its own fallback.
 */
export function codexCatalog(modelIds: readonly string[], known: ReadonlyMap<string, CodexModel>): string | null {
  const [bound, ...others] = modelIds
  const isKnown = (id: string): boolean => known.has(id)
  const ordered = [...others.filter(isKnown), ...others.filter((id) => !isKnown(id))]
  const fallback = [...known.values()].find((model) => model.listed && model.baseInstructions !== null) ?? null
  const entries: string[] = []
  let bytes = 0
  for (const id of new Set(bound === undefined ? [] : [bound, ...ordered])) {
    const entry = entryOf(id, known.get(id), fallback, entries.length)
    if (entry === null) continue
    const text = JSON.stringify(entry)
    bytes += Buffer.byteLength(text) + 1
    if (bytes > MAX_BYTES - 64) break
    entries.push(text)
  }
  return entries.length === 0 ? null : `{"models":[${entries.join(',')}]}`
}

function entryOf(
  id: string,
  model: CodexModel | undefined,
  fallback: CodexModel | null,
  priority: number,
): Record<string, unknown> | null {
  const instructions = model?.baseInstructions ?? fallback?.baseInstructions ?? null
  if (instructions === null) return null
  const efforts = (model?.efforts ?? []).map((effort) => (effort === 'off' ? 'none' : effort))
  return {
    slug: id,
    display_name: model?.displayName ?? id,
    description: model?.description ?? null,
    supported_reasoning_levels: efforts.map((effort) => ({ effort, description: LEVELS[effort] ?? 'No reasoning' })),
    ...(model?.effortDefault == null
      ? {}
      : { default_reasoning_level: model.effortDefault === 'off' ? 'none' : model.effortDefault }),
    ...(model?.contextWindow == null ? {} : { context_window: model.contextWindow }),
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    upgrade: null,
    base_instructions: instructions,
    supports_reasoning_summaries: model?.reasoningSummaries ?? false,
    support_verbosity: model?.verbosity ?? false,
    default_verbosity: model?.verbosityDefault ?? null,
    apply_patch_tool_type: model?.applyPatchToolType ?? null,
    supports_parallel_tool_calls: model?.parallelToolCalls ?? false,
    truncation_policy: model?.truncation ?? TRUNCATION,
    experimental_supported_tools: [],
    input_modalities: model?.inputModalities ?? ['text'],
  }
}
