/** The policy: whose it is, which mode holds, and what happens to one call of an agent. Pure and synchronous. */
export { classifyCommand } from './command/classify.ts'
export { evaluate } from './evaluate.ts'
export { onDisk } from './disk.ts'
export { mayBeInside } from './paths.ts'
export { forcedMode, resolveMode, sandboxOf } from './mode.ts'
export { isUnattended, resolveSource } from './source.ts'
export type {
  CommandRisk,
  ModeCandidates,
  PermissionRule,
  PolicyCall,
  PolicyContext,
  PolicyInput,
  PolicyVerdict,
  ResolvedMode,
  ResolvedSource,
  Sandbox,
  SourceCandidates,
} from './types.ts'
