import { createClaudeDriver } from '../../../../src/main/workers/drivers/claude/index.ts'
import type { DriverFixture, WireLine } from '../harness.ts'

export const CONVERSATION = '01a22875-c499-7840-9679-8d1ed0beb365'

/** What a control response of ours holds; undefined for any other line. */
export function answerOf(line: WireLine): Record<string, unknown> | undefined {
  const { response } = line
  if (line['type'] !== 'control_response' || typeof response !== 'object' || response === null) return undefined
  return 'response' in response && typeof response.response === 'object'
    ? (response.response as Record<string, unknown>)
    : undefined
}

const subtypeOf = (line: WireLine): unknown => {
  const { request } = line
  return typeof request === 'object' && request !== null && 'subtype' in request ? request.subtype : undefined
}

export const claudeFixture: DriverFixture = {
  name: 'claude',
  factory: createClaudeDriver,
  script: 'fake-claude.mjs',
  program: 'claude',
  configure: (cfg) => cfg,
  isPrompt: (line) => line['type'] === 'user',
  isCancel: (line) => subtypeOf(line) === 'interrupt',
  isAnswer: (line) => answerOf(line)?.['behavior'] !== undefined,
  isAllow: (line) => answerOf(line)?.['behavior'] === 'allow',
  known: CONVERSATION,
  malformed: 'NOT-a-conversation',
  ownEnv: {},
  modeProof: 'first_prompt',
}
