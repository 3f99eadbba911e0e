import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempDir extends Disposable {
  /** Absolute, without links, 0700. */
  readonly path: string
  /** A path in here. */
  at(...parts: string[]): string
}

/** A folder of this test alone: `using dir = createTempDir()` removes it at the end. */
export function createTempDir(): TempDir {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'wheelhouse-test-')))
  return {
    path,
    at: (...parts) => join(path, ...parts),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  }
}
