import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTempDir } from '../support/dir.ts'

const root = join(import.meta.dirname, '..', '..')

/** [file, what it imports]. The files are made in a copy of the layout, under the project's own configuration. */
const FORBIDDEN = [
  ['src/main/runtime/a.ts', '../workers/index.ts'],
  ['src/main/runtime/a.ts', '../providers/index.ts'],
  ['src/main/runtime/deep/b.ts', '../../executor/index.ts'],
  ['src/main/runtime/a.ts', '../host.ts'],
  ['src/main/runtime/a.ts', 'electron'],
  ['src/main/workers/a.ts', '../runtime/index.ts'],
  ['src/main/workers/a.ts', '../providers/router/index.ts'],
  ['src/main/providers/a.ts', '../workers/types.ts'],
  ['src/main/providers/a.ts', '../rehearsal/index.ts'],
  ['src/main/rehearsal/a.ts', '../providers/index.ts'],
  ['src/main/deliveries/a.ts', '../providers/index.ts'],
  ['src/main/deliveries/a.ts', '../bridge/index.ts'],
  ['src/main/schedules/a.ts', '../executor/index.ts'],
  ['src/main/schedules/a.ts', '../runtime/store/rows.ts'],
  ['src/main/notifications/a.ts', '../desktop/index.ts'],
  ['src/main/notifications/a.ts', '../runtime/index.ts'],
  ['src/main/notifications/a.ts', 'electron'],
  ['src/main/platform/a.ts', '../runtime/index.ts'],
  ['src/main/platform/a.ts', '../bridge/types.ts'],
  ['src/main/platform/a.ts', 'electron'],
  ['src/main/executor/a.ts', '../bridge/server.ts'],
  ['src/main/executor/a.ts', '../runtime/store/rows.ts'],
  ['src/main/bridge/a.ts', '../desktop/windows.ts'],
  ['src/main/bridge/a.ts', '../web/server.ts'],
  ['src/main/web/a.ts', 'electron'],
  ['src/main/host.ts', 'electron'],
  ['src/shared/a.ts', '../main/host.ts'],
  ['src/shared/a.ts', 'node:fs'],
  ['src/shared/a.ts', '../renderer/app.tsx'],
  ['src/renderer/a.ts', 'node:fs'],
  ['src/renderer/a.ts', '../main/platform/index.ts'],
  ['src/renderer/a.ts', 'electron'],
  ['src/renderer/a.ts', '@base-ui/react/switch'],
  ['src/renderer/ui/a.ts', '../features/sessions/index.ts'],
  ['src/agent/a.ts', '../main/platform/index.ts'],
  ['src/agent/a.ts', 'electron'],
] as const

const ALLOWED = [
  ['src/main/runtime/a.ts', '../platform/index.ts'],
  ['src/main/runtime/a.ts', '../../shared/errors.ts'],
  ['src/main/runtime/deep/b.ts', '../store/rows.ts'],
  ['src/main/executor/a.ts', '../runtime/index.ts'],
  ['src/main/executor/a.ts', '../workers/types.ts'],
  ['src/main/bridge/a.ts', '../runtime/index.ts'],
  ['src/main/deliveries/a.ts', '../runtime/index.ts'],
  ['src/main/deliveries/a.ts', '../../shared/bridge/index.ts'],
  ['src/main/notifications/a.ts', '../bridge/index.ts'],
  ['src/main/desktop/a.ts', 'electron'],
  ['src/main/index.ts', 'electron'],
  ['src/preload/a.ts', 'electron'],
  ['src/main/platform/a.ts', 'node:fs'],
  ['src/main/host.ts', './runtime/index.ts'],
  ['src/renderer/a.ts', '../shared/errors.ts'],
  ['src/renderer/ui/a.ts', '@base-ui/react/switch'],
] as const

const CODE = [
  ['src/main/runtime/clock.ts', 'export const at = Date.now()', 'eslint(no-restricted-properties)'],
  ['src/main/workers/chance.ts', 'export const one = Math.random()', 'eslint(no-restricted-properties)'],
  ['src/main/runtime/print.ts', "console.log('x')\nexport {}", 'eslint(no-console)'],
  ['src/main/runtime/any.ts', 'export function f(x: any): void {\n  x()\n}', 'typescript(no-explicit-any)'],
] as const

interface Diagnostic {
  code: string
  filename: string
}

let diagnostics: readonly Diagnostic[]

function numbered(cases: readonly (readonly [string, string])[]): readonly (readonly [string, string, number])[] {
  return cases.map(([path, from], index) => [path, from, index] as const)
}

/** Every case is a file of its own, so that one run of the linter, which costs a second, judges all of them. */
function fileOf(path: string, index: number, kind: string): string {
  // A rule names this one alone.
  if (path === 'src/main/index.ts') return path
  return path.replace(/\.ts$/, `-${kind}-${index}.ts`)
}

beforeAll(async () => {
  using dir = createTempDir()
  cpSync(join(root, '.oxlintrc.json'), dir.at('.oxlintrc.json'))
  const put = (path: string, source: string): void => {
    mkdirSync(dirname(dir.at(path)), { recursive: true })
    writeFileSync(dir.at(path), source, { flag: 'a' })
  }
  const importing = (from: string): string => `import { thing } from '${from}'\nexport const it = thing\n`
  FORBIDDEN.forEach(([path, from], index) => put(fileOf(path, index, 'forbidden'), importing(from)))
  ALLOWED.forEach(([path, from], index) => put(fileOf(path, index, 'allowed'), importing(from)))
  CODE.forEach(([path, source]) => put(path, `${source}\n`))
  diagnostics = await lint(dir.path)
}, 60_000)

function lint(cwd: string): Promise<readonly Diagnostic[]> {
  const require = createRequire(import.meta.url)
  const program = join(dirname(require.resolve('oxlint/package.json')), 'bin', 'oxlint')
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, '--format', 'json', '.'], { cwd, maxBuffer: 1 << 24 }, (_error, stdout) => {
      try {
        resolve((JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics)
      } catch (error) {
        reject(error)
      }
    })
  })
}

function codesFor(file: string): string[] {
  return diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code)
}

describe('layers', () => {
  test.each(numbered(FORBIDDEN))('%s may not import %s', (path, _from, index) => {
    expect(codesFor(fileOf(path, index, 'forbidden'))).toContain('eslint(no-restricted-imports)')
  })

  test.each(numbered(ALLOWED))('%s may import %s', (path, _from, index) => {
    expect(codesFor(fileOf(path, index, 'allowed'))).not.toContain('eslint(no-restricted-imports)')
  })

  test.each(CODE)('in %s the linter refuses: %s', (path, _source, code) => {
    expect(codesFor(path)).toContain(code)
  })
})
