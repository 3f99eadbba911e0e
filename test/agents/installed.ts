/** Whether the real agents are there: `npm run agents:install` puts them beside this file. Under CI they must be. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'

const BIN = fileURLToPath(new URL('node_modules/.bin', import.meta.url))

/** What agents find their own programs on, and the Node that runs these tests. */
export const AGENT_PATH = [BIN, dirname(process.execPath), '/usr/bin', '/bin'].join(':')

/** `describe` where the program is installed; elsewhere the suite says how to get it and is skipped, but never under CI. */
export function describeWithAgent(program: string, title: string, suite: () => void): void {
  const there = existsSync(`${BIN}/${program}`)
  if (there || process.env['CI'] === 'true') {
    describe(title, suite)
    return
  }
  console.warn(`${title}: skipped, since ${program} is not installed. Run: npm run agents:install`)
  describe.skip(title, suite)
}
