/** The browser host: `node out/main/serve.js [--port N] [--demo]`. Prints one link, and serves until it is told to end. */
import { runServe } from './cli/serve.ts'
import { dropEmptyHome } from './platform/index.ts'

dropEmptyHome()
process.exitCode = await runServe(process.argv.slice(2), import.meta.dirname)
