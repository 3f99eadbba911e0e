/**
 * What a permission mode is to Codex: an approval policy and a sandbox. A thread is always started read-only, since a
 * writable start marks the folder as trusted in the user's own configuration and starts the project's MCP servers.
 */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { assertNever } from '../../../../shared/errors.ts'
import type { PermissionRules } from '../../types.ts'

export type SandboxPolicy =
  | { type: 'readOnly'; networkAccess: boolean }
  | { type: 'dangerFullAccess' }
  | {
      type: 'workspaceWrite'
      writableRoots: string[]
      networkAccess: boolean
      excludeTmpdirEnvVar: boolean
      excludeSlashTmp: boolean
    }

export interface ThreadMode {
  approvalPolicy: 'untrusted' | 'on-request' | 'never'
  sandboxPolicy: SandboxPolicy
}

/** With which every thread is started and resumed. */
export const START_MODE: ThreadMode = {
  approvalPolicy: 'untrusted',
  sandboxPolicy: { type: 'readOnly', networkAccess: false },
}

export function threadMode(rules: PermissionRules, addDirs: readonly string[]): ThreadMode {
  switch (rules.mode) {
    case 'read_only':
      return START_MODE
    case 'ask':
      return {
        approvalPolicy: 'untrusted',
        sandboxPolicy:
          rules.sandbox === 'workspace'
            ? {
                type: 'workspaceWrite',
                writableRoots: [...addDirs],
                networkAccess: true,
                excludeTmpdirEnvVar: false,
                excludeSlashTmp: false,
              }
            : { type: 'dangerFullAccess' },
      }
    case 'edits':
      return {
        approvalPolicy: 'on-request',
        sandboxPolicy: {
          type: 'workspaceWrite',
          writableRoots: [],
          networkAccess: false,
          excludeTmpdirEnvVar: true,
          excludeSlashTmp: true,
        },
      }
    case 'anything':
      return { approvalPolicy: 'never', sandboxPolicy: { type: 'dangerFullAccess' } }
    default:
      return assertNever(rules.mode)
  }
}

/** What Codex says of a thread, in an answer or in `thread/settings/updated`. */
export const ToldSettings = z.object({
  cwd: z.string(),
  approvalPolicy: z.unknown().optional(),
  approvalsReviewer: z.string(),
  sandboxPolicy: z.looseObject({ type: z.string() }),
})
export type ToldSettings = z.infer<typeof ToldSettings>

/** What differs from what was asked, in a few words; null: it is the mode. */
export function modeDifference(wanted: ThreadMode, told: ToldSettings, cwds: readonly string[]): string | null {
  // Any other reviewer lets a model approve.
  if (told.approvalsReviewer !== 'user') return `approvals are reviewed by ${told.approvalsReviewer}`
  if (told.approvalPolicy !== wanted.approvalPolicy) return `approval policy ${JSON.stringify(told.approvalPolicy)}`
  const differs = Object.entries(wanted.sandboxPolicy).some(
    ([key, value]) => !isDeepStrictEqual(told.sandboxPolicy[key], value),
  )
  if (differs) return `sandbox ${told.sandboxPolicy.type}`
  return cwds.includes(told.cwd) ? null : 'another folder'
}
