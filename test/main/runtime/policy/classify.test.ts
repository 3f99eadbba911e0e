import { describe, expect, test } from 'vitest'
import { classifyCommand } from '../../../../src/main/runtime/policy/index.ts'
import { EXPECTED } from './commands.ts'

const risks = Object.entries(EXPECTED)

/** Command by command, so that a failure names each one that is off. */
function classes(commands: readonly string[]): Record<string, string> {
  return Object.fromEntries(commands.map((command) => [command, classifyCommand(command).risk]))
}

function expected(commands: readonly string[], risk: string): Record<string, string> {
  return Object.fromEntries(commands.map((command) => [command, risk]))
}

describe('the expected classes', () => {
  test.each(risks)('RT-A56 every command that the contract calls %s is %s', (risk, commands) => {
    expect(classes(commands)).toEqual(expected(commands, risk))
  })

  test.each(risks)('RT-A56 each reason of a %s command is one sentence', (_risk, commands) => {
    for (const command of commands) expect(classifyCommand(command).reason).toMatch(/^[A-Z].*\.$/s)
  })
})
