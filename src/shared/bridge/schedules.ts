import { z } from 'zod'
import { AgentId, Mode, RunState, RuntimeChoice } from '../vocabulary.ts'
import { mutation, query, topic } from './define.ts'
import type { ProcedureMap, TopicMap } from './define.ts'

/** Nobody watches such a run, so the mode that asks for nothing is not offered. */
const UnattendedMode = Mode.exclude(['os'])

/** Five fields of a crontab, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
const cron = z.string().trim().min(1).max(120)
/** A name of the IANA database, such as Europe/Berlin. */
const timeZone = z.string().min(1).max(64)
const id = z.uuid()

const fields = {
  name: z.string().trim().min(1).max(80),
  cron,
  timeZone,
  agentId: AgentId,
  workDir: z.string().min(1).max(4_096),
  mode: UnattendedMode,
  /** Null: what its session runs on, at first the agent's default. */
  choice: RuntimeChoice.nullable(),
  prompt: z.string().trim().min(1).max(65_536),
  /** Places that answers are sent to beside those that take every such answer. */
  deliverTo: z.array(z.uuid()).max(8),
  /** A time that passed while nothing executed schedules is made up for, once, instead of being left out. */
  catchUp: z.boolean(),
  enabled: z.boolean(),
}

export const ScheduleView = z.object({
  id: z.string(),
  ...fields,
  choiceLabel: z.string().nullable(),
  rev: z.int(),
  /** Where its runs stand; null: it has not run yet. */
  sessionId: z.string().nullable(),
  /** Wall clock, Unix ms; null: never again, or switched off. */
  nextAt: z.number().nullable(),
  /** What became of the last time that it was due, or was started by hand. */
  last: z
    .object({
      at: z.number(),
      dueAt: z.number().nullable(),
      outcome: z.enum(['started', 'skipped', 'failed']),
      runId: z.string().nullable(),
      /** How that run stands by now. */
      runState: RunState.nullable(),
      code: z.string().nullable(),
      message: z.string().nullable(),
    })
    .nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
})
export type ScheduleView = z.infer<typeof ScheduleView>

const Schedules = z.object({
  schedules: z.array(ScheduleView),
  /** False: this host starts none by itself, since it ends with a command. */
  executing: z.boolean(),
})

export const scheduleProcedures = {
  'schedules.list': query({ input: z.strictObject({}), output: Schedules }),
  'schedules.create': mutation({
    input: z.strictObject({
      ...fields,
      /** By default that of this machine. */
      timeZone: timeZone.optional(),
      mode: UnattendedMode.default('agent'),
      choice: RuntimeChoice.nullable().default(null),
      deliverTo: fields.deliverTo.default([]),
      catchUp: z.boolean().default(false),
      enabled: z.boolean().default(true),
    }),
    output: ScheduleView,
  }),
  /** What is left out stays. Another agent or folder begins another session. */
  'schedules.update': mutation({
    input: z.strictObject({ id, expectedRev: z.int(), change: z.strictObject(fields).partial() }),
    output: ScheduleView,
  }),
  /** Its session and what stands in it stay. */
  'schedules.delete': mutation({ input: z.strictObject({ id }), output: z.object({ deleted: z.boolean() }) }),
  /** Starts it now, as it would start by itself. */
  'schedules.run': mutation({
    input: z.strictObject({ id }),
    output: z.object({ sessionId: z.string(), runId: z.string(), state: RunState }),
  }),
  /** When it would be due next: five times, or fewer. */
  'schedules.times': query({
    input: z.strictObject({ cron, timeZone: timeZone.optional() }),
    output: z.object({ times: z.array(z.number()), timeZone: z.string() }),
  }),
} satisfies ProcedureMap

export const scheduleTopics = {
  schedules: topic({ filter: z.strictObject({}), event: Schedules }),
} satisfies TopicMap
