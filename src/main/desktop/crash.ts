import { desktop } from '../../shared/strings/desktop.ts'
import type { ElectronApi } from './electron-api.ts'

export interface CrashDeps {
  electron: Pick<ElectronApi, 'app' | 'dialog'>
  process: Pick<NodeJS.EventEmitter, 'on'>
  /** To the log, or to stderr as long as there is none. */
  report(message: string, error: unknown): void
  /** Ends the app in order; the next start recovers what was under way. */
  end(): Promise<void>
}

/**
 * A bug that nobody caught: it is logged, shown once, and ends the app in order, since nobody can say what else is wrong. The
 * person reads while the app stops; it is gone when both are done.
 */
export function endOnUncaught({ electron, process, report, end }: CrashDeps): void {
  let ending = false
  const onUncaught = (what: string) => (thrown: unknown) => {
    report(what, thrown)
    if (ending) return
    ending = true
    const both = Promise.allSettled([say(electron), end()])
    void both.then(() => electron.app.exit(1))
  }
  process.on('uncaughtException', onUncaught('an exception was not caught'))
  process.on('unhandledRejection', onUncaught('a rejection was not handled'))
}

async function say({ app, dialog }: CrashDeps['electron']): Promise<void> {
  const { message, detail, close } = desktop.crash
  if (app.isReady())
    await dialog.showMessageBox({ type: 'error', title: desktop.product, message, detail, buttons: [close] })
  else dialog.showErrorBox(message, detail)
}
