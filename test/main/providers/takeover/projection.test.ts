import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeProjector } from '../../../../src/main/providers/takeover/claude.ts'
import { codexProjector } from '../../../../src/main/providers/takeover/codex.ts'
import type { ProjectionKind, Projector, Target } from '../../../../src/main/providers/takeover/types.ts'
import { settingsFile, tomlFile } from './generate.ts'

const TARGET: Target = { address: '127.0.0.1:38777', key: 'whg_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG' }
const OTHER: Target = { address: '127.0.0.1:40001', key: 'whg_ZZ23456789abcdefghijklmnopqrstuvwxyzABCDEFG' }
/** `npm run test:fuzz` raises it. */
const RUNS = Number(process.env['WHEELHOUSE_TAKEOVER_RUNS'] ?? 100)

/** Enable, enable again, move to another address, disable: the very text from before. */
function roundTrip(projector: Projector, kind: ProjectionKind, before: string): void {
  const on = projector.apply(before, kind, TARGET, null)
  expect(projector.detect(on.after)).toBe(kind)
  const again = projector.apply(on.after, kind, TARGET, on)
  expect(again.splices).toEqual([])
  expect(projector.inspect(on.after, kind, TARGET, on)).toEqual({ kind: 'exact' })
  const moved = projector.apply(on.after, kind, OTHER, on)
  const options = { backup: before, target: TARGET }
  expect(projector.remove(on.after, on, options)).toMatchObject({ after: before, detail: null, left: false })
  expect(projector.remove(moved.after, moved, options).after).toBe(before)
}

describe('PR-A61 enable and disable leave generated files as they were', () => {
  test.each(['provider_table', 'base_url'] as const)('PR-A61 Codex, %s', (kind) => {
    fc.assert(
      fc.property(tomlFile, (before) => {
        roundTrip(codexProjector, kind, before)
      }),
      { numRuns: RUNS },
    )
  })

  test('PR-A61 Claude Code', () => {
    fc.assert(
      fc.property(settingsFile, (before) => roundTrip(claudeProjector, 'env', before)),
      { numRuns: RUNS },
    )
  })
})
