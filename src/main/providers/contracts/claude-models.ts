/**
 * What Claude Code (2.1.197) itself holds of the models that it names. It is evidence, never an allowlist: a model that is
 * not here launches and routes under its own name, and nothing is claimed of it.
 */
export interface ClaudeModel {
  displayName: string
  contextWindowTokens: number
}

const USUAL = 200_000
const LONG = 1_000_000
/** At the end of a client's model name: the long context, which the client asks for by a header and cuts off the name. */
const LONG_CONTEXT = /\[1m\]$/

const MODELS: ReadonlyMap<string, ClaudeModel> = new Map(
  (
    [
      ['Fable 5', LONG, 'claude-fable-5'],
      ['Opus 4.8', LONG, 'claude-opus-4-8'],
      ['Opus 4.7', LONG, 'claude-opus-4-7'],
      ['Opus 4.6', USUAL, 'claude-opus-4-6'],
      ['Opus 4.5', USUAL, 'claude-opus-4-5', 'claude-opus-4-5-20251101'],
      ['Opus 4.1', USUAL, 'claude-opus-4-1', 'claude-opus-4-1-20250805'],
      ['Opus 4', USUAL, 'claude-opus-4-0', 'claude-opus-4-20250514'],
      ['Sonnet 5', LONG, 'claude-sonnet-5'],
      ['Sonnet 4.6', USUAL, 'claude-sonnet-4-6'],
      ['Sonnet 4.5', USUAL, 'claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
      ['Sonnet 4', USUAL, 'claude-sonnet-4-0', 'claude-sonnet-4-20250514'],
      ['Haiku 4.5', USUAL, 'claude-haiku-4-5', 'claude-haiku-4-5-20251001'],
    ] as const
  ).flatMap(([displayName, contextWindowTokens, ...ids]) =>
    ids.map((id) => [id, { displayName, contextWindowTokens }]),
  ),
)

/** Null: it is none that Claude Code names. */
export function claudeModel(id: string): ClaudeModel | null {
  const model = MODELS.get(withoutLongContext(id))
  if (model === undefined) return null
  return LONG_CONTEXT.test(id) ? { displayName: `${model.displayName} (1M)`, contextWindowTokens: LONG } : model
}

/** The name that a Provider is asked for. */
export function withoutLongContext(id: string): string {
  return id.replace(LONG_CONTEXT, '')
}

/**
 * Whether a Claude Code that runs under the name `clientModel`, and fills the window of that, can be answered by `model`. What
 * is unknown is not compared.
 */
export function canAnswerFor(model: string, clientModel: string): boolean {
  const [offered, believed] = [claudeModel(model), claudeModel(clientModel)]
  return offered === null || believed === null || offered.contextWindowTokens >= believed.contextWindowTokens
}
