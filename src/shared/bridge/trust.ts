import { z } from 'zod'
import { ProjectView, TrustedFolder } from '../trust.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

const folder = z.string().min(1).max(4_096)

export const trustProcedures = {
  /** What of this folder's project would count once it is trusted, and what a person said of it. */
  'trust.inspect': query({ input: z.strictObject({ folder }), output: ProjectView }),
  /** Every answer, by folder. */
  'trust.list': query({ input: z.strictObject({}), output: z.object({ folders: z.array(TrustedFolder) }) }),
  /**
   * Answers for the project of this folder. It counts from the next run on. With `expectedRev` (0: not answered yet) the
   * first answer wins; without it the last does.
   */
  'trust.answer': mutation({
    input: z.strictObject({ folder, trusted: z.boolean(), expectedRev: z.int().nonnegative().optional() }),
    output: TrustedFolder,
  }),
  /** Takes an answer back: nothing of the folder's own counts, and it is asked for again. False: there was none. */
  'trust.withdraw': mutation({
    input: z.strictObject({ folder }),
    output: z.object({ withdrawn: z.boolean() }),
  }),
} satisfies ProcedureMap

export const trustTopics = {
  trust: topic({ filter: z.strictObject({}), event: z.object({ folders: z.array(TrustedFolder) }) }),
} satisfies TopicMap
