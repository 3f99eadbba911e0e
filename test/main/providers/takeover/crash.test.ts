import { expect, test } from 'vitest'
import { disablingRound, enablingRound, folderRound } from './crash-rounds.ts'

const LIMIT_MS = 120_000

/** A few of the places; `npm run test:takeover` plays them all. */
test.each(['takeover.after_backup', 'takeover.after_state', 'before_rename#3', 'takeover.after_rename'])(
  'PR-T29 killed at %s while it is switched on, the next start knows which; never a second copy',
  { timeout: LIMIT_MS, concurrent: true },
  async (point) => {
    await expect(enablingRound(point)).resolves.toBeUndefined()
  },
)

test.each(['takeover.after_disabling', 'takeover.after_removal'])(
  'PR-T29 killed at %s while it is switched off, the next start finishes; an edit by hand in between is kept',
  { timeout: LIMIT_MS, concurrent: true },
  async (point) => {
    await expect(disablingRound(point)).resolves.toBeUndefined()
  },
)

test.each([
  ['enable', 'after_write#2'],
  ['disable', 'takeover.after_removal'],
] as const)(
  'PR-T29 killed in the middle of an %s (%s), the folder that was made for the file goes with it',
  { timeout: LIMIT_MS, concurrent: true },
  async (action, point) => {
    await expect(folderRound(action, point)).resolves.toBeUndefined()
  },
)
