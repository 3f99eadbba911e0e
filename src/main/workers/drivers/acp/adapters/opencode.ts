/** opencode has one mode that works, `build`; what it asks there is its configuration's matter. */
import { NOTHING } from './types.ts'
import type { AdapterParts, Prepared } from './types.ts'

export function prepareOpencode({ mode }: AdapterParts): Prepared {
  const permission = {
    bash: mode === 'anything' ? 'allow' : 'ask',
    edit: mode === 'anything' || mode === 'edits' ? 'allow' : 'ask',
  }
  return { ...NOTHING, env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ permission }) } }
}
