/** Whether the real agents are there: `npm run agents:install` puts them beside this file. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'

const BIN = fileURLToPath(new URL('node_modules/.bin', import.meta.url))

/** What agents find their own programs on, and the Node that runs these tests. */
export const AGENT_PATH = [BIN, dirname(process.execPath), '/usr/bin', '/bin'].join(':')

/** `describe` where the program is installed. Elsewhere the suite is skipped and says so; never under CI, where it has to be. */
export function describeWithAgent(program: string, title: string, suite: () => void): void {
  // oxlint-disable-next-line vitest/valid-title -- the titles stand where the suites are
  describe.skipIf(isMissing(program))(title, () => {
    suite()
  })
}

function isMissing(program: string): boolean {
  if (existsSync(`${BIN}/${program}`) || process.env['CI'] === 'true') return false
  console.warn(`The suite of the real ${program} is skipped: it is not installed. Run npm run agents:install.`)
  return true
}
