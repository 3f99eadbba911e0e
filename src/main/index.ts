/**
 * The app's entry in Electron. Nothing here waits for the app to be ready: Electron becomes ready only when this module has
 * been evaluated.
 */
import * as electron from 'electron'
import { startDesktop } from './desktop/index.ts'
import { dropEmptyHome } from './platform/index.ts'

dropEmptyHome()
await startDesktop({ electron, entryDir: import.meta.dirname, env: process.env, args: process.argv })
