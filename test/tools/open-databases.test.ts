import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

/**
 * To close any descriptor of a file drops all locks that its process holds on that file (POSIX). SQLite's files, and the
 * lock that is one, are therefore opened by SQLite alone: a module that names one may use only those functions of
 * `node:fs` that open nothing, and hands none to the durable files.
 */
const OPENS_NOTHING = new Set(
  'access accessSync chmod chmodSync constants existsSync lstat mkdir readdir realpath rename rm stat statSync unlink'.split(
    ' ',
  ),
)
const FS_IMPORT = /import\s+(\{[^}]*\}|[^{}'"\n]+?)\s+from\s+['"](?:node:)?fs(?:\/promises)?['"]/g
const NAMES_A_DATABASE = /paths\.database|wheelhouse\.db|host\.lock|\.db-wal|\.db['"`]/
const READS_IT = /files\.(?:read|write|remove)\(\s*[\w.]*(?:database|host\.lock|\.db)/

function offences(source: string): string[] {
  const found = READS_IT.test(source) ? ['a database in the hands of durable files'] : []
  if (!NAMES_A_DATABASE.test(source)) return found
  for (const [, clause = ''] of source.matchAll(FS_IMPORT)) {
    const names = /^\{([^}]*)\}$/.exec(clause)?.[1]?.split(',') ?? [clause]
    const bare = names.map((name) =>
      name
        .trim()
        .replace(/^type\s+/, '')
        .replace(/\s+as\s.*$/, ''),
    )
    found.push(...bare.filter((name) => name !== '' && !OPENS_NOTHING.has(name)))
  }
  if (/(?:require|import)\(\s*['"](?:node:)?fs/.test(source)) found.push('a dynamic import of fs')
  return found
}

describe('open databases and lock files are never opened by fs', () => {
  test('in the whole product', () => {
    const files = globSync('src/**/*.{ts,tsx}', { cwd: root })
    const found = files.flatMap((file) => {
      const wrong = offences(readFileSync(join(root, file), 'utf8'))
      return wrong.length > 0 ? [`${file}: ${wrong.join(', ')}`] : []
    })
    expect(files.length).toBeGreaterThan(50)
    expect(found).toEqual([])
  })

  test.each([
    ['a read', "import { readFile } from 'node:fs/promises'\nawait readFile(paths.database)", 'readFile'],
    ['a renamed open', "import { existsSync, openSync as o } from 'node:fs'\no(join(dir, 'host.lock'))", 'openSync'],
    ['a default import', "import fs from 'node:fs'\nfs.cpSync('wheelhouse.db', to)", 'fs'],
    ['a namespace', "import * as fs from 'fs'\nfs.readFileSync(`${dir}/wheelhouse.db`)", '*'],
    ['many lines', "import {\n  chmod,\n  copyFile,\n} from 'node:fs/promises'\ncopyFile(paths.database)", 'copyFile'],
    [
      'a dynamic import',
      "const fs = await import('node:fs')\nfs.readFileSync('wheelhouse.db')",
      'a dynamic import of fs',
    ],
    ['a durable file', 'await files.read(paths.database, limits)', 'a database in the hands of durable files'],
  ])('%s is found', (_what, source, offence) => {
    expect(offences(source)).toContain(offence)
  })

  test.each([
    ['to close a database to others', "import { chmodSync } from 'node:fs'\nchmodSync(paths.database, 0o600)"],
    ['to read another file', "import { readFile } from 'node:fs/promises'\nreadFile(paths.settings)"],
    ['another import before', "import { a } from 'x'\nimport { chmod } from 'node:fs/promises'\nchmod(paths.database)"],
  ])('%s is no offence', (_what, source) => {
    expect(offences(source)).toEqual([])
  })
})
