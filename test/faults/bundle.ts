import { join } from 'node:path'
import { build } from 'vite'
import { PROGRAM } from '../main/runtime/support/workers.ts'

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/faults')

/** The runtime's process as one file: hundreds of it are started, and each would load two hundred. Answers its path. */
export async function bundleProgram(): Promise<string> {
  const outDir = join(FOLDER, String(process.pid))
  await build({
    configFile: false,
    logLevel: 'error',
    build: { ssr: PROGRAM, outDir, emptyOutDir: true, target: 'node24', minify: true },
    ssr: { noExternal: true, external: ['better-sqlite3'] },
  })
  return join(outDir, 'worker.js')
}
