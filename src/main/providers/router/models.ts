/** `GET /v1/models`, answered from what Wheelhouse knows: never forwarded, in the three shapes that clients read. */
import type { RouteBinding, RoutedModel, RouterPort } from './types.ts'

/** Providers name no date of their models, and clients only want one to be there. */
const CREATED_AT = '1970-01-01T00:00:00Z'

/** The JSON text. `query` with its question mark, or empty. */
export function modelsAnswer(binding: RouteBinding, query: string, port: RouterPort): string {
  const asked = new URLSearchParams(query)
  if (asked.has('client_version')) return port.codexCatalog(binding) ?? '{"models":[]}'
  const models = port.models(binding)
  return JSON.stringify(
    binding.routeProtocol === 'responses' ? openAiList(models, binding.providerLabel) : anthropicPage(models, asked),
  )
}

function openAiList(models: readonly RoutedModel[], ownedBy: string): unknown {
  return { object: 'list', data: models.map(({ id }) => ({ id, object: 'model', created: 0, owned_by: ownedBy })) }
}

function anthropicPage(models: readonly RoutedModel[], asked: URLSearchParams): unknown {
  const afterId = asked.get('after_id')
  const rest = models.slice(models.findIndex(({ id }) => id === afterId) + 1)
  const limit = Number(asked.get('limit') ?? '1000')
  const page = rest.slice(0, Number.isInteger(limit) && limit > 0 ? limit : rest.length)
  return {
    data: page.map(({ id, displayName }) => ({
      type: 'model',
      id,
      display_name: displayName ?? id,
      created_at: CREATED_AT,
    })),
    has_more: page.length < rest.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}
