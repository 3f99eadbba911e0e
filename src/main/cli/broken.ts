import type { Log } from '../platform/index.ts'

/**
 * Resolves with the first error that nobody caught: the caller ends in order, and the next start recovers. Each is logged
 * once; without this, the process would end in the middle of everything.
 */
export function whenBroken(log: Log): Promise<'broken'> {
  return new Promise((resolve) => {
    const broke = (error: unknown): void => {
      log.error('an error that nobody caught ends the host', { error })
      resolve('broken')
    }
    process.on('uncaughtException', broke)
    process.on('unhandledRejection', broke)
  })
}
