/** What many processes of one test run load alike is compiled once. A process that is to be killed flushes it itself. */
import { resolve } from 'node:path'

export const COMPILE_CACHE = resolve(import.meta.dirname, '../../node_modules/.cache/compiled')

/** This process's environment, and the cache. */
export const withCompileCache = (): NodeJS.ProcessEnv => ({ ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE })
