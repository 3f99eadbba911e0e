import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TAKEOVER_PROPERTIES } from '../../../fuzz/takeover-properties.ts'

/** `npm run test:fuzz` runs them for minutes. */
const RUNS = 100

describe('enable and disable leave generated files as they were', () => {
  test.each(TAKEOVER_PROPERTIES)('$name', async ({ property }) => {
    const details = await fc.check(property, { numRuns: RUNS })
    expect(details.failed ? fc.defaultReportMessage(details) : null).toBeNull()
  })
})
