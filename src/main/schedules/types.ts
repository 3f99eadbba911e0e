import { z } from 'zod'
import type { AgentId, Mode, RuntimeChoice } from '../../shared/vocabulary.ts'

/** What a person sets up. */
export interface ScheduleFields {
  name: string
  /** Five fields of a crontab, or a nickname such as `@daily`. */
  cron: string
  timeZone: string
  agentId: AgentId
  /** Absolute. */
  workDir: string
  mode: Exclude<Mode, 'os'>
  /** Null: what the session runs on. */
  choice: RuntimeChoice | null
  prompt: string
  /** Ids of places that answers go to. */
  deliverTo: readonly string[]
  /** Make up, once, for times that passed while nothing executed schedules. */
  catchUp: boolean
  enabled: boolean
}

export interface Schedule extends ScheduleFields {
  id: string
  rev: number
  sessionId: string | null
  /** Wall clock, Unix ms; null: never again, or switched off. */
  nextAt: number | null
  last: LastTime | null
  createdAt: number
  updatedAt: number
}

/** What became of a time. `dueAt: null`: a person started it. */
export const LastTime = z.object({
  at: z.number(),
  dueAt: z.number().nullable(),
  outcome: z.enum(['started', 'skipped', 'failed']),
  runId: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
})
export type LastTime = z.infer<typeof LastTime>
