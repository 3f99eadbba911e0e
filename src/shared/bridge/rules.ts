import { z } from 'zod'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

/** What an "always" answer left behind. It holds for one session, or for every session in one project folder. */
export const RuleView = z.object({
  id: z.string(),
  scope: z.enum(['session', 'project']),
  sessionId: z.string().nullable(),
  sessionTitle: z.string().nullable(),
  projectDir: z.string().nullable(),
  /** What `pattern` is compared with: a whole command, or an agent's tool. */
  matchKind: z.enum(['command_exact', 'tool']),
  pattern: z.string(),
  /** The only folder that an allowed command may start in; null for every other rule. */
  folder: z.string().nullable(),
  effect: z.enum(['allow', 'reject']),
  /** The question that was answered so; null: it is not kept any more. */
  decisionId: z.string().nullable(),
  createdAt: z.number(),
})
export type RuleView = z.infer<typeof RuleView>

export const ruleProcedures = {
  /** Newest first, 1,000 at most. */
  'rules.list': query({ input: z.strictObject({}), output: z.object({ rules: z.array(RuleView) }) }),
  /** From the next question on the agent asks again. False: there was no such rule. */
  'rules.delete': mutation({
    input: z.strictObject({ ruleId: z.uuid() }),
    output: z.object({ deleted: z.boolean() }),
  }),
} satisfies ProcedureMap

export const ruleTopics = {
  rules: topic({ filter: z.strictObject({}), event: z.object({ rules: z.array(RuleView) }) }),
} satisfies TopicMap
