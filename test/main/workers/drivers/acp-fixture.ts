import { createAcpDriver, customProfile } from '../../../../src/main/workers/drivers/acp/index.ts'
import type { DriverFixture, WireLine } from '../harness.ts'

function outcome(line: WireLine): unknown {
  const { result } = line
  return typeof result === 'object' && result !== null && 'outcome' in result ? result.outcome : undefined
}

export const acpFixture: DriverFixture = {
  name: 'acp',
  factory: createAcpDriver,
  script: 'fake-acp.mjs',
  program: 'fake-acp',
  configure: (cfg, program) => ({
    ...cfg,
    profile: customProfile({ id: 'acp:fake', product: 'Fake agent', command: program, args: [], env: {} }),
  }),
  isPrompt: (line) => line['method'] === 'session/prompt',
  isCancel: (line) => line['method'] === 'session/cancel',
  isAnswer: (line) => outcome(line) !== undefined,
  isAllow: (line) => JSON.stringify(outcome(line) ?? null).includes('"allow'),
  known: 'fake-session-1',
  malformed: 'no such id/..',
  ownEnv: {},
  modeProof: 'before_prompt',
}
