/** A thread of Codex keeps the Provider that it was made with, for good: a route has to come under that name, or cannot. */
import { z } from 'zod'
import type { JsonValue } from '../../../../shared/vocabulary.ts'
import { GATEWAY_PROVIDER } from '../../../../shared/vocabulary.ts'
import { WorkerError } from '../../errors.ts'
import type { SessionConfig } from '../../types.ts'
import type { Calls } from './calls.ts'

/** Codex's own, under which every thread of ours is made. */
const OPENAI = 'openai'
const PinnedReply = z.object({ thread: z.object({ modelProvider: z.string() }) })

/**
 * The thread's settings from the route, under the Provider that the thread is pinned to. The gateway's table may be gone
 * from Codex's config by now, so it comes along.
 * @throws WorkerError `model_profile_bypass` with the Provider as detail: it is one of the person's own.
 */
export async function underPinnedProvider(
  { calls, cfg }: { calls: Calls; cfg: Pick<SessionConfig, 'route'> },
  config: Readonly<Record<string, JsonValue>>,
  threadId: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, JsonValue>>> {
  const { route } = cfg
  if (route === null) return config
  const reply = await calls.ask('thread/read', { threadId, includeTurns: false }, signal)
  const pinned = reply.ok ? PinnedReply.safeParse(reply.result).data?.thread.modelProvider : undefined
  // What cannot be read cannot be resumed either, and says so better.
  if (pinned === undefined || pinned === OPENAI) return config
  const { openai_base_url: address, ...others } = config
  if (pinned !== GATEWAY_PROVIDER || address === undefined || route.key === undefined) throw bypass(pinned)
  const table = {
    name: 'Wheelhouse',
    base_url: address,
    wire_api: 'responses',
    experimental_bearer_token: route.key.reveal('upstream_header'),
    requires_openai_auth: false,
    supports_websockets: false,
  }
  return { ...others, model_provider: pinned, model_providers: { [pinned]: table } }
}

function bypass(pinned: string): WorkerError {
  return new WorkerError(
    'model_profile_bypass',
    `This conversation was begun under “${pinned}” of Codex’s own configuration and goes on there alone. Choose Codex’s own login for it, or begin a new session.`,
    { detail: pinned },
  )
}
