import { parseArgs } from 'node:util'
import type { Command } from './index.ts'
import { printJson, say } from './print.ts'

const MARK = { pass: 'ok  ', warn: 'warn', fail: 'FAIL' } as const

/** Every check with its hint. Always exits 0: it tells, it does not judge. */
export const doctor: Command = (args) => {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } }, strict: true })
  return async ({ bridge }) => {
    const { checks } = await bridge.call('system.health', {})
    if (values.json === true) {
      printJson({ checks })
      return 0
    }
    for (const check of checks) {
      say(`${MARK[check.status]}  ${check.label}: ${check.message}\n`)
      if (check.hint !== null && check.status !== 'pass') say(`      ${check.hint}\n`)
    }
    return 0
  }
}
