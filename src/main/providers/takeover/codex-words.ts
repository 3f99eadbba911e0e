/** What is written into Codex's config, word for word. */
import { GATEWAY_PROVIDER } from '../../../shared/vocabulary.ts'
import type { Target } from './types.ts'

export const PROVIDER_ID = GATEWAY_PROVIDER
export const BLOCK_OPENS = `# >>> ${PROVIDER_ID} >>>`
export const BLOCK_CLOSES = `# <<< ${PROVIDER_ID} <<<`
export const LINE_MARK = `# ${PROVIDER_ID}: written by Wheelhouse; turn it off there, or delete this line`

/** Under the root key the local key stands in the address: Codex's built-in Provider takes no header. */
export function urlOf({ address, key }: Target): string {
  return `http://${address}/k/${key}/v1`
}

/** What the block means. */
export function tableOf({ address, key, keepLogin = false }: Target): object {
  return {
    name: 'Wheelhouse Gateway',
    base_url: `http://${address}/v1`,
    wire_api: 'responses',
    requires_openai_auth: keepLogin,
    supports_websockets: false,
    http_headers: { 'x-wheelhouse-gateway-key': key },
  }
}

export function blockLines({ address, key, keepLogin = false }: Target): readonly string[] {
  return [
    `${BLOCK_OPENS} written by Wheelhouse; turn it off there, or delete down to the closing line`,
    `[model_providers.${PROVIDER_ID}]`,
    'name = "Wheelhouse Gateway"',
    `base_url = "http://${address}/v1"`,
    'wire_api = "responses"',
    `requires_openai_auth = ${keepLogin}`,
    'supports_websockets = false',
    `http_headers = { "x-wheelhouse-gateway-key" = "${key}" }`,
    BLOCK_CLOSES,
  ]
}
