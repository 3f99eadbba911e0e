import { homedir } from 'node:os'
import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { ProjectView, TrustedFolder } from '../../../shared/trust.ts'
import type { Actor } from '../../../shared/vocabulary.ts'
import type { Clock, Log, Store } from '../../platform/index.ts'
import { findingsIn } from './findings.ts'
import { isWithin, projectOf } from './project-root.ts'
import type { Project } from './project-root.ts'
import { createTrustTable } from './table.ts'

const MAX_FOLDERS = 4_096

/** Which projects' own settings count. A project is the repository of a folder, or the folder itself where there is none. */
export interface FolderTrust {
  list(): readonly TrustedFolder[]
  /** Whether agents may read what this folder's project brings with it. False for a folder that is not there. */
  isTrusted(folder: string): Promise<boolean>
  /** @throws AppError `folder_unreadable`. */
  inspect(folder: string): Promise<ProjectView>
  /**
   * With `expectedRev` the first answer wins. @throws AppError `folder_unreadable`; `config_conflict`: it was answered
   * meanwhile.
   */
  answer(request: { folder: string; trusted: boolean; expectedRev?: number; by: Actor }): Promise<TrustedFolder>
  /** The answer that holds for this folder, wherever it was given. False: there is none. */
  withdraw(folder: string, by: Actor): Promise<boolean>
  /** After each change, once it is durable. */
  onChange(listener: () => void): () => void
}

export interface FolderTrustDeps {
  clock: Clock
  log: Log
  store: Store
  hostEnv(name: string): string | undefined
}

export function createFolderTrust({ clock, log, store, hostEnv }: FolderTrustDeps): FolderTrust {
  const table = createTrustTable(store)
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const listener of listeners) listener()
  }

  const home = (): Promise<string | null> => realpath(hostEnv('HOME') ?? homedir()).catch(() => null)

  /**
   * The answer that holds for a project. A folder without a repository takes the nearest answer above it, but never that of
   * the home folder or one above. A repository, wherever it lies, has its own: what was cloned into a trusted folder is
   * asked for.
   */
  async function answerFor({ root, isRepository }: Project): Promise<TrustedFolder | null> {
    const own = table.get(root)
    if (own !== null || isRepository) return own
    const homeDir = await home()
    const above = table
      .all()
      .filter(({ folder }) => isWithin(root, folder) && (homeDir === null || !isWithin(homeDir, folder)))
    return above.sort((a, b) => b.folder.length - a.folder.length)[0] ?? null
  }

  return {
    list: () => table.all(),
    async isTrusted(folder) {
      if (!table.all().some(({ trusted }) => trusted)) return false
      const project = await projectOf(folder)
      return project !== null && (await answerFor(project))?.trusted === true
    },
    async inspect(folder) {
      const project = await demandProject(folder)
      const found = await findingsIn(project, await home())
      return { folder: project.root, answer: await answerFor(project), ...found }
    },
    async answer({ folder, trusted, expectedRev, by }) {
      const { root } = await demandProject(folder)
      const answered = await store.writeTx(() => {
        const before = table.get(root)
        if (expectedRev !== undefined && expectedRev !== (before?.rev ?? 0)) {
          throw new AppError('config_conflict', 'This was answered meanwhile, here or in another window.', {
            detail: root,
          })
        }
        if (before === null && table.all().length >= MAX_FOLDERS) {
          throw new AppError('input_invalid', `At most ${MAX_FOLDERS} folders are kept. Withdraw one first.`)
        }
        const next: TrustedFolder = { folder: root, trusted, rev: (before?.rev ?? 0) + 1, answeredAt: clock.nowMs() }
        table.put(next, JSON.stringify(by))
        return next
      })
      log.info('a folder’s own settings were decided on', { folder: root, trusted, via: by.via })
      changed()
      return answered
    },
    async withdraw(folder, by) {
      const project = await projectOf(folder)
      const holding = project === null ? null : await answerFor(project)
      // A folder that is gone is named as it was kept.
      const names = [...new Set([folder, ...(holding === null ? [] : [holding.folder])])]
      const withdrawn = await store.writeTx(() => names.map((name) => table.delete(name)).includes(true))
      if (!withdrawn) return false
      log.info('a folder’s trust was withdrawn', { folder, via: by.via })
      changed()
      return true
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

async function demandProject(folder: string): Promise<Project> {
  const project = isAbsolute(folder) && !folder.includes('\0') ? await projectOf(folder) : null
  if (project !== null) return project
  throw new AppError('folder_unreadable', 'There is no such folder. Give the whole path of one.', {
    detail: folder.slice(0, 200),
  })
}
