import { parseArgs } from 'node:util'
import type { Command } from './index.ts'
import { inLine, printJson, say, tell } from './print.ts'

export const sessions: Command = (args) => {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } }, strict: true })
  return async ({ bridge }) => {
    const listed = await bridge.call('sessions.list', { limit: 100 })
    if (values.json === true) {
      printJson(listed)
      return 0
    }
    for (const session of listed.sessions) {
      const when = new Date(session.updatedAt).toISOString().slice(0, 16).replace('T', ' ')
      say(`${session.id}  ${when}  ${session.state.padEnd(10)}  ${inLine(session.title) || '(no prompt yet)'}\n`)
    }
    if (listed.sessions.length === 0) tell('There are no sessions yet.\n')
    return 0
  }
}
