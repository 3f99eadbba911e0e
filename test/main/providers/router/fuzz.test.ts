import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ROUTER_PROPERTIES } from '../../../fuzz/router-properties.ts'

test.each(ROUTER_PROPERTIES)('PR-A44 $name', async ({ property }) => {
  const details = await fc.check(property, { numRuns: 200 })
  expect(details.failed ? fc.defaultReportMessage(details) : null).toBeNull()
})
