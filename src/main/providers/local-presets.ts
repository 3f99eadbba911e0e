/** Programs of this machine that serve models, such as Ollama: whether they run. */
import { PRESETS } from './presets.ts'
import type { PresetId } from './types.ts'
import type { Upstream } from './upstream/index.ts'

/** Such a program answers at once or is not there. */
const LIMITS = { timeoutMs: 1_500, maxBytes: 4_194_304 } as const

export interface LocalPreset {
  id: PresetId
  /** Ends with `/v1`. */
  address: string
}

const LOCAL_PRESETS: readonly LocalPreset[] = PRESETS.flatMap(({ id, auth, addresses }) =>
  auth === 'none' && addresses.responses != null ? { id, address: addresses.responses } : [],
)

/** Those that answer with a list of models within 1.5 s, in their order. Each is asked once, without a key. */
export async function findLocalPresets(
  upstream: Pick<Upstream, 'getJson'>,
  signal: AbortSignal,
  presets = LOCAL_PRESETS,
): Promise<readonly PresetId[]> {
  const asked = presets.map(async ({ id, address }): Promise<PresetId[]> => {
    const request = { url: new URL(`${address}/models`), auth: { mode: 'none', key: null }, ...LIMITS } as const
    const answer = await upstream.getJson(request, signal).catch(() => null)
    return answer?.status === 200 ? [id] : []
  })
  return (await Promise.all(asked)).flat()
}
