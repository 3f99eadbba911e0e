/** The bridge contract: every procedure and topic once, and the types that follow from them. */
import type { z } from 'zod'
import { deliveryProcedures, deliveryTopics } from './deliveries.ts'
import { gatewayProcedures, gatewayTopics } from './gateway.ts'
import { inputProcedures } from './inputs.ts'
import { mcpProcedures } from './mcp.ts'
import { providerProcedures, providerTopics } from './providers.ts'
import { ruleProcedures, ruleTopics } from './rules.ts'
import { runProcedures, runTopics } from './runs.ts'
import { scheduleProcedures, scheduleTopics } from './schedules.ts'
import { sessionProcedures, sessionTopics } from './sessions.ts'
import { systemProcedures, systemTopics } from './system.ts'
import { trustProcedures, trustTopics } from './trust.ts'

export const procedures = {
  ...systemProcedures,
  ...sessionProcedures,
  ...runProcedures,
  ...inputProcedures,
  ...ruleProcedures,
  ...deliveryProcedures,
  ...scheduleProcedures,
  ...providerProcedures,
  ...gatewayProcedures,
  ...mcpProcedures,
  ...trustProcedures,
} as const
export const topics = {
  ...systemTopics,
  ...sessionTopics,
  ...runTopics,
  ...ruleTopics,
  ...deliveryTopics,
  ...scheduleTopics,
  ...providerTopics,
  ...gatewayTopics,
  ...trustTopics,
} as const

export type ProcedureName = keyof typeof procedures
/** What a caller hands in: defaults may be left out. */
export type ProcedureInput<N extends ProcedureName> = z.input<(typeof procedures)[N]['input']>
/** What a handler gets: parsed, defaults filled in. */
export type ParsedInput<N extends ProcedureName> = z.output<(typeof procedures)[N]['input']>
export type ProcedureOutput<N extends ProcedureName> = z.output<(typeof procedures)[N]['output']>

export type TopicName = keyof typeof topics
export type TopicFilter<N extends TopicName> = z.input<(typeof topics)[N]['filter']>
export type TopicEvent<N extends TopicName> = z.output<(typeof topics)[N]['event']>

export type { Procedure, ProcedureMap, Topic, TopicMap } from './define.ts'
export * from './wire.ts'
export { DeliveryView, TargetInput, TargetView } from './deliveries.ts'
export type { ParsedTarget } from './deliveries.ts'
export { ATTACHMENT_PAGE_BYTES, AttachmentView, InputView, UPLOAD_CHUNK_BYTES } from './inputs.ts'
export {
  GatewayClient,
  GatewayView,
  ProjectionKind,
  RequestView,
  TakeoverDetail,
  TakeoverPlan,
  TakeoverView,
  TakeoverWarning,
} from './gateway.ts'
export { ConnectionView, CatalogView, FailoverRule, ModelView, PresetId, SwitchStep, UsageRow } from './providers.ts'
export { McpScope, McpServerInput, McpServerView, McpTestResult } from '../mcp.ts'
export { ProjectEffect, ProjectFinding, ProjectView, TrustedFolder } from '../trust.ts'
export { RuleView } from './rules.ts'
export { DecisionOutcome, SubmitReceipt } from './runs.ts'
export { ScheduleView } from './schedules.ts'
export {
  ConfigView,
  DecisionView,
  Draft,
  OwnershipView,
  RuntimeEffect,
  SearchHit,
  SessionState,
  SessionView,
  Snapshot,
} from './sessions.ts'
export { AgentView, Check, Folder, Notice, WorkerView } from './system.ts'
