import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'

const root = join(import.meta.dirname, '../..')
const versions = z.record(z.string(), z.string())
const Package = z.object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions })

const { dependencies, devDependencies, optionalDependencies } = Package.parse(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
)
const all = { ...dependencies, ...devDependencies, ...optionalDependencies }

test('docs/dependencies.md gives a reason for every dependency, and for none that is gone', () => {
  const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8')
  const named = [...page.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  )
  expect(new Set(named)).toEqual(new Set(Object.keys(all)))
  expect(named).toHaveLength(Object.keys(all).length)
})

test('every dependency has an exact version', () => {
  const loose = Object.entries(all).filter(([, version]) => !/^(?:\d+\.\d+\.\d+(?:-[\w.]+)?|file:\S+)$/.test(version))
  expect(loose).toEqual([])
})
