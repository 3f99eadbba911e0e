export { killAllGroups } from './process-group.ts'
export { shownText, ToolError } from './types.ts'
export type { AgentTool, PlannedCall, ShownContent, ToolOutcome, Workspace } from './types.ts'

import { bashTool } from './bash.ts'
import { editTool, writeTool } from './edit.ts'
import { fetchTool } from './fetch.ts'
import { listTool } from './list.ts'
import { readTool } from './read.ts'
import { searchTool } from './search.ts'
import type { AgentTool } from './types.ts'

/** Every built-in tool, in the order in which the model is told of them. */
export const BUILTIN_TOOLS: readonly AgentTool[] = [
  readTool,
  listTool,
  searchTool,
  editTool,
  writeTool,
  bashTool,
  fetchTool,
]
