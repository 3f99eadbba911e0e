import { assertNever } from '../../../../../shared/errors.ts'
import { prepareClaude } from './claude.ts'
import { prepareCodex } from './codex.ts'
import { prepareOpencode } from './opencode.ts'
import { NOTHING } from './types.ts'
import type { AdapterParts, Prepared } from './types.ts'

export type { Prepared } from './types.ts'

/** @throws WorkerError `worker_unusable`, `mcp_mismatch`, `private_dir_unsafe`, `private_dir_failed`, all `never`. */
export function prepareAdapter(parts: AdapterParts): Promise<Prepared> {
  const { adapter } = parts.profile
  switch (adapter) {
    case null:
      return Promise.resolve(NOTHING)
    case 'codex':
      return prepareCodex(parts)
    case 'claude':
      return Promise.resolve(prepareClaude(parts))
    case 'opencode':
      return Promise.resolve(prepareOpencode(parts))
    default:
      return assertNever(adapter)
  }
}
