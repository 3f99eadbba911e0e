/** Whether a project's own settings may count, and what they would be. */
import { z } from 'zod'

/** What a settings file of a project brings with it. `names`: of hooks, servers, variables …, cut to bounds. */
export const ProjectEffect = z.object({
  what: z.enum(['hooks', 'mcp', 'programs', 'env', 'permissions', 'other']),
  names: z.array(z.string()),
  /** So many others are not named. */
  more: z.int().optional(),
})
export type ProjectEffect = z.infer<typeof ProjectEffect>

/** One file or folder of a project that an agent would read once the project is trusted. */
export const ProjectFinding = z.object({
  /** Below the project's folder; one that lies above it begins with `..`. */
  path: z.string(),
  agent: z.enum(['claude', 'codex']),
  kind: z.enum(['settings', 'mcp', 'instructions', 'extras']),
  effects: z.array(ProjectEffect),
  /** Why nothing more is said of it; null: it was looked at whole. */
  unread: z.enum(['leads_outside', 'too_large', 'malformed', 'unreadable']).nullable(),
})
export type ProjectFinding = z.infer<typeof ProjectFinding>

/** A person's answer. It holds for the project's folder and what lies below, but for repositories of their own in it. */
export const TrustedFolder = z.object({
  folder: z.string(),
  trusted: z.boolean(),
  rev: z.int(),
  answeredAt: z.number(),
})
export type TrustedFolder = z.infer<typeof TrustedFolder>

export const ProjectView = z.object({
  /** What the question is about: the root of the repository, else the folder itself. Links are resolved. */
  folder: z.string(),
  /** The answer that holds here, wherever it was given; null: nobody was asked yet. */
  answer: TrustedFolder.nullable(),
  findings: z.array(ProjectFinding),
  /** There is more than is listed. */
  more: z.boolean(),
})
export type ProjectView = z.infer<typeof ProjectView>
