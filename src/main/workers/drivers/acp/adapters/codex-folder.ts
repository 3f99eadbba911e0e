import { realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unusable } from '../../../errors.ts'
import type { CodexConfig } from './codex-config.ts'

/**
 * From the folder up to its Git root, no `.codex/config.toml` may stand that the person's own file does not trust.
 * @throws WorkerError `worker_unusable`.
 */
export async function refuseFolderServers(cwd: string, codexHome: string, user: CodexConfig): Promise<void> {
  const real = await realpath(cwd).catch(() => cwd)
  const folders = await upToGitRoot(real)
  const trusted = new Set(
    Object.entries(user.projects ?? {}).flatMap(([path, project]) => (project.trust_level === 'trusted' ? [path] : [])),
  )
  if ([cwd, real, folders.at(-1) ?? real].some((folder) => trusted.has(folder))) return
  const own = await realpath(codexHome).catch(() => codexHome)
  for (const folder of folders) {
    const settings = join(folder, '.codex')
    if (settings === own || !(await isThere(join(settings, 'config.toml')))) continue
    throw unusable(
      'This folder has Codex settings of its own, and codex-acp would start the MCP servers in them. Trust the folder, or use the agent Codex here.',
      join(settings, 'config.toml'),
    )
  }
}

/** The folder first, the Git root last; without one, the folder alone. */
async function upToGitRoot(from: string): Promise<string[]> {
  const passed: string[] = []
  for (let folder = from; ; folder = dirname(folder)) {
    passed.push(folder)
    if (await isThere(join(folder, '.git'))) return passed
    if (dirname(folder) === folder) return [from]
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch {
    return false
  }
}
