import { realpath } from 'node:fs/promises'
import { AppError } from '../../../shared/errors.ts'
import { mayBeInside } from '../policy/index.ts'

/**
 * A session works nowhere in Wheelhouse's own data folder, whatever link leads there: what an agent may read in its own
 * folders nobody is asked about, and keys may lie there.
 * @throws AppError `root_invalid`.
 */
export async function refuseOwnFolder(dataDir: string, dirs: readonly string[]): Promise<void> {
  for (const dir of dirs) {
    const leadsTo = await realpath(dir).catch(() => dir)
    if (mayBeInside(dataDir, dir) || mayBeInside(dataDir, leadsTo)) {
      throw new AppError('root_invalid', 'This folder is Wheelhouse’s own. Choose another one for the project.', {
        detail: dir,
      })
    }
  }
}
