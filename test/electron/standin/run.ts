/**
 * Runs a built main as Electron does: the app becomes ready only when its entry has been evaluated, top-level awaits and all.
 * An entry that waits for `ready` at its top level therefore ends here with Node's exit code 13, where Electron would hang.
 */
import { pathToFileURL } from 'node:url'
import { app } from './app.ts'
import { answerDriver } from './driver.ts'

const [entry] = process.argv.slice(2)
if (entry === undefined) throw new Error('name the built main to run')
answerDriver()
await import(pathToFileURL(entry).href)
app.becomeReady()
