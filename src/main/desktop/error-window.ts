import { AppError } from '../../shared/errors.ts'
import { desktop } from '../../shared/strings/desktop.ts'
import type { ElectronApi } from './electron-api.ts'

const OPEN_FOLDER = 0

/**
 * Says why the app cannot start, before anything of the data was changed. Resolves once the person has chosen to leave, or
 * to look at the data folder.
 */
export async function showStartFailure(
  { dialog, shell }: Pick<ElectronApi, 'dialog' | 'shell'>,
  failure: { error: unknown; dataDir: string },
): Promise<void> {
  const known = failure.error instanceof AppError ? failure.error : null
  const { startFailure } = desktop
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: desktop.product,
    message: startFailure.title(known?.code ?? null),
    detail: [
      known?.message ?? startFailure.unknown,
      known === null ? '' : startFailure.code(known.code, known.detail),
      startFailure.untouched(failure.dataDir),
    ]
      .filter((line) => line !== '')
      .join('\n\n'),
    buttons: [startFailure.openFolder, startFailure.quit],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  })
  if (response === OPEN_FOLDER) await shell.openPath(failure.dataDir)
}
