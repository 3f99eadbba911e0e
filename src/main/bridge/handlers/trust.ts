import type { trustProcedures } from '../../../shared/bridge/trust.ts'
import type { FolderTrust } from '../../executor/index.ts'
import { compact } from '../compact.ts'
import type { HandlersOf } from '../types.ts'

export function trustHandlers({ trust }: { trust: FolderTrust }): HandlersOf<typeof trustProcedures> {
  return {
    'trust.inspect': ({ folder }) => trust.inspect(folder),
    'trust.list': () => ({ folders: [...trust.list()] }),
    'trust.answer': ({ folder, trusted, expectedRev }, { actor }) =>
      trust.answer({ folder, trusted, by: actor, ...compact({ expectedRev }) }),
    'trust.withdraw': async ({ folder }, { actor }) => ({ withdrawn: await trust.withdraw(folder, actor) }),
  }
}
