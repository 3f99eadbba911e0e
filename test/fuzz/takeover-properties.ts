/** What holds of takeover for any config file: it comes back to the byte. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { claudeProjector } from '../../src/main/providers/takeover/claude.ts'
import { codexProjector } from '../../src/main/providers/takeover/codex.ts'
import type { ProjectionKind, Projector, Target } from '../../src/main/providers/takeover/types.ts'
import { settingsFile, tomlFile } from '../main/providers/takeover/generate.ts'
import type { FuzzProperty } from './router-properties.ts'

const TARGET: Target = { address: '127.0.0.1:38777', key: 'whg_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG' }
const OTHER: Target = { address: '127.0.0.1:40001', key: 'whg_ZZ23456789abcdefghijklmnopqrstuvwxyzABCDEFG' }

/** Enable, enable again, move to another address, disable: the very text from before. */
function roundTrip(projector: Projector, kind: ProjectionKind, before: string, target: Target = TARGET): void {
  const on = projector.apply(before, kind, target, null)
  assert.equal(projector.detect(on.after), kind)
  assert.deepEqual(projector.apply(on.after, kind, target, on).splices, [])
  assert.deepEqual(projector.inspect(on.after, kind, target, on), { kind: 'exact' })
  const moved = projector.apply(on.after, kind, OTHER, on)
  const options = { backup: before, target }
  const { after, detail, left } = projector.remove(on.after, on, options)
  assert.deepEqual({ after, detail, left }, { after: before, detail: null, left: false })
  assert.equal(projector.remove(moved.after, moved, options).after, before)
}

export const TAKEOVER_PROPERTIES: readonly FuzzProperty[] = [
  {
    name: 'PR-A61 Codex, a Provider of its own',
    property: fc.property(tomlFile, fc.boolean(), (before, keepLogin) => {
      roundTrip(codexProjector, 'provider_table', before, { ...TARGET, keepLogin })
    }),
  },
  {
    name: 'PR-A61 Codex, one address',
    property: fc.property(tomlFile, (before) => roundTrip(codexProjector, 'base_url', before)),
  },
  {
    name: 'PR-A61 Claude Code',
    property: fc.property(settingsFile, (before) => roundTrip(claudeProjector, 'env', before)),
  },
]
