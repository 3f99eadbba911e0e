import { createCodexDriver } from '../../../../src/main/workers/drivers/codex/index.ts'
import type { DriverFixture, WireLine } from '../harness.ts'

export const THREAD = '01a22875-c499-7840-9679-8d1ed0beb365'

const decisionOf = (line: WireLine): unknown => {
  const { result } = line
  return typeof result === 'object' && result !== null && 'decision' in result ? result.decision : undefined
}

export const codexFixture: DriverFixture = {
  name: 'codex',
  factory: createCodexDriver,
  script: 'fake-codex.mjs',
  program: 'codex',
  configure: (cfg) => cfg,
  isPrompt: (line) => line['method'] === 'turn/start',
  isCancel: (line) => line['method'] === 'turn/interrupt',
  isAnswer: (line) => line['method'] === undefined,
  isAllow: (line) => decisionOf(line) === 'accept',
  known: THREAD,
  malformed: 'not-a-thread',
  ownEnv: {},
  modeProof: 'before_prompt',
}
