import { afterEach, beforeEach, expect } from 'vitest'

// No test speaks to the desktop of the person who runs it.
process.env['DBUS_SESSION_BUS_ADDRESS'] = 'disabled:'

/** Every test asserts something, and none passes while the process warned (a leaked listener shows at once). */
beforeEach(() => {
  expect.hasAssertions()
  warnings.length = 0
})

afterEach(() => {
  if (warnings.length > 0) throw new Error(`process warning: ${warnings.join('; ')}`)
})

const warnings: string[] = []
const ignored = new Set(['ExperimentalWarning'])

process.on('warning', (warning) => {
  if (!ignored.has(warning.name)) warnings.push(`${warning.name}: ${warning.message}`)
})
