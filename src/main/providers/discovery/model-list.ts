/** Asks a Provider which models it has: one bounded exchange per page, whatever dialect its list is in. */
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import type { RouteProtocol } from '../types.ts'
import { upstreamUrl } from '../upstream/index.ts'
import type { Upstream, UpstreamAuth } from '../upstream/index.ts'
import { isModelId } from '../validation.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4 * 1024 * 1024
const MAX_PAGES = 20
const PAGE_MODELS = 1_000
export const MAX_MODELS = 5_000
const ANTHROPIC_VERSION = '2023-06-01'

const Item = z.union([
  z.string(),
  z.looseObject({ id: z.string().optional(), slug: z.string().optional(), name: z.string().optional() }),
])
const List = z.union([z.looseObject({ data: z.array(z.unknown()) }), z.looseObject({ models: z.array(z.unknown()) })])
const Paging = z.looseObject({ has_more: z.boolean().optional(), last_id: z.string().nullish() })

export interface ListTarget {
  baseUrl: string
  protocol: RouteProtocol
  auth: UpstreamAuth
}

export interface ModelList {
  /** In the upstream's order, each once. Null: it has no list (404). */
  ids: readonly string[] | null
  /** Ids that no route could carry. */
  invalid: number
}

/** @throws AppError `model_profile_credential_not_ready` (401, 403), `upstream_*`. */
export async function fetchModelList(upstream: Upstream, target: ListTarget, signal: AbortSignal): Promise<ModelList> {
  const first = upstreamUrl(target.baseUrl, '/v1/models', '')
  const second = upstreamUrl(target.baseUrl, '/models', '')
  const candidates = first.href === second.href ? [first] : [first, second]
  for (const url of candidates) {
    const list = await fetchPages(upstream, target, url, signal)
    if (list !== null) return list
  }
  return { ids: null, invalid: 0 }
}

async function fetchPages(
  upstream: Upstream,
  target: ListTarget,
  url: URL,
  signal: AbortSignal,
): Promise<ModelList | null> {
  const ids = new Set<string>()
  let invalid = 0
  let after: string | null = null
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await fetchPage(upstream, target, url, after, signal)
    if (answer === null) return page === 0 ? null : { ids: [...ids], invalid }
    for (const id of answer.ids) {
      if (!isModelId(id)) invalid += 1
      else if (ids.size < MAX_MODELS) ids.add(id)
    }
    after = answer.next
    if (after === null || ids.size >= MAX_MODELS) break
  }
  return { ids: [...ids], invalid }
}

async function fetchPage(
  upstream: Upstream,
  target: ListTarget,
  url: URL,
  after: string | null,
  signal: AbortSignal,
): Promise<{ ids: readonly string[]; next: string | null } | null> {
  const messages = target.protocol === 'anthropic_messages'
  const paged = new URL(url)
  if (messages) paged.searchParams.set('limit', String(PAGE_MODELS))
  if (after !== null) paged.searchParams.set('after_id', after)
  const { status, value } = await upstream.getJson(
    {
      url: paged,
      headers: messages ? { 'anthropic-version': ANTHROPIC_VERSION } : {},
      auth: target.auth,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    },
    signal,
  )
  if (status === 404) return null
  if (status === 401 || status === 403) {
    throw new AppError(
      'model_profile_credential_not_ready',
      'The Provider refuses this key. Check it, or make a new one.',
      {
        detail: `HTTP ${status}`,
      },
    )
  }
  const list = List.safeParse(value)
  if (status < 200 || status > 299 || !list.success) {
    throw new AppError('upstream_invalid', 'The Provider did not answer with a list of models.', {
      detail: `HTTP ${status}`,
    })
  }
  const items = Array.isArray(list.data['data']) ? list.data['data'] : list.data['models']
  const paging = Paging.safeParse(value)
  const next = paging.data?.has_more === true ? (paging.data.last_id ?? null) : null
  return { ids: readItems(items), next: messages ? next : null }
}

/** Empty for what is no item: it is counted as an id that is none. */
function readItems(items: unknown): readonly string[] {
  return z
    .array(Item.catch(''))
    .parse(items)
    .map((item) => (typeof item === 'string' ? item : (item.slug ?? item.id ?? item.name ?? '')))
}
