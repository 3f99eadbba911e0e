import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuntimeContext } from '../context.ts'
import { removeInputFolder } from '../inputs/root.ts'
import type { Removal } from '../store/removals.ts'

const AT_ONCE = 256

export interface Removals {
  /** Removes the folder of an input or artifact whose row has let go of it. What fails is tried again by `sweep`. */
  now(ids: readonly string[]): Promise<void>
  /** All that are due. Answers how many are gone. */
  sweep(): Promise<number>
}

export function artifactsDir(dataDir: string): string {
  return join(dataDir, 'artifacts')
}

/** Files go after the commit that lets go of them; a crash in between, or a file that cannot go now, is made up for later. */
export function createRemovals({ clock, log, paths, store, tables }: RuntimeContext): Removals {
  async function remove(removal: Removal): Promise<boolean> {
    const { id, kind, workDir } = removal
    try {
      if (kind === 'input') await removeInputFolder(workDir, id)
      else await rm(join(artifactsDir(paths.dataDir), id), { recursive: true, force: true })
      return true
    } catch (error) {
      log.warn('The files of an attachment could not be removed yet.', { error, id, kind })
      return false
    }
  }

  async function removeAll(due: readonly Removal[]): Promise<number> {
    const gone: string[] = []
    for (const removal of due) if (await remove(removal)) gone.push(removal.id)
    if (gone.length > 0) {
      await store.writeTx(() => {
        for (const id of gone) tables.removals.strike(id)
      })
    }
    return gone.length
  }

  return {
    async now(ids) {
      const due = ids.map((id) => tables.removals.get(id)).filter((removal) => removal !== null)
      await removeAll(due).catch((error: unknown) => log.warn('A removal could not be recorded.', { error }))
    },
    async sweep() {
      let count = 0
      let after = ''
      for (;;) {
        const due = tables.removals.due({ now: clock.nowMs(), after, limit: AT_ONCE })
        const last = due.at(-1)
        if (last === undefined) return count
        count += await removeAll(due)
        after = last.id
      }
    },
  }
}
