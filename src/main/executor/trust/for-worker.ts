import { join } from 'node:path'
import type { ExecutionSink } from '../../runtime/index.ts'
import type { AgentDefinition } from '../agents.ts'
import type { Parts } from '../types.ts'
import type { FolderTrust } from './folder-trust.ts'

const NAMED = 4

/** The settings files that Claude Code reads in a trusted folder, besides the person's own. */
export function claudeSettingsOf(cwd: string): string[] {
  return ['settings.json', 'settings.local.json'].map((name) => join(cwd, '.claude', name))
}

/**
 * Whether an agent may read what its folders bring with them: the first one is trusted, and no other brings anything that
 * nobody trusted. Claude Code takes commands, agents and skills of every folder it is given.
 */
export async function rootsTrusted(
  trust: Pick<FolderTrust, 'isTrusted' | 'inspect'>,
  agent: Pick<AgentDefinition, 'project'>,
  [first, ...others]: readonly string[],
): Promise<boolean> {
  if (agent.project === undefined || first === undefined || !(await trust.isTrusted(first))) return false
  if (agent.project !== 'claude') return true
  for (const folder of others) {
    if (await trust.isTrusted(folder)) continue
    const found = await trust.inspect(folder).catch(() => null)
    if (found === null || found.findings.some(({ agent, kind }) => agent === 'claude' && kind === 'extras'))
      return false
  }
  return true
}

/**
 * Said in a run whose agent leaves out what the folder brings with it, until somebody answered for the folder. Null:
 * there is nothing to say. A folder that cannot be looked at stops nothing.
 */
export async function untrustedNotice(
  { trust, log }: Pick<Parts, 'trust' | 'log'>,
  agent: Pick<AgentDefinition, 'project'>,
  cwd: string,
): Promise<Parameters<ExecutionSink['push']>[0] | null> {
  if (agent.project === undefined) return null
  try {
    const { answer, findings } = await trust.inspect(cwd)
    const paths = findings.filter((found) => found.agent === agent.project).map(({ path }) => path)
    if (answer !== null || paths.length === 0) return null
    const rest = paths.length - NAMED
    const named = [...paths.slice(0, NAMED), ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
    return {
      kind: 'notice',
      code: 'folder_untrusted',
      message: `This folder is not trusted, so what it brings with it is left out: ${named}. Trust it in the session, or by wheelhouse trust.`,
      level: 'warning',
    }
  } catch (error) {
    log.warn('a folder could not be looked at', { error })
    return null
  }
}
