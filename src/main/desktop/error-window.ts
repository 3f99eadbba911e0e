import { AppError } from '../../shared/errors.ts'
import type { ElectronApi } from './electron-api.ts'

const OPEN_FOLDER = 0
const TITLES: Readonly<Partial<Record<AppError['code'], string>>> = {
  schema_too_new: 'This data was last used by a newer Wheelhouse',
  database_corrupt: 'The database is damaged',
  data_dir_unwritable: 'The data folder cannot be used',
}

/**
 * Says why the app cannot start, before anything of the data was changed. Resolves once the person has chosen to leave, or
 * to look at the data folder.
 */
export async function showStartFailure(
  { dialog, shell }: Pick<ElectronApi, 'dialog' | 'shell'>,
  failure: { error: unknown; dataDir: string },
): Promise<void> {
  const known = failure.error instanceof AppError ? failure.error : null
  const { response } = await dialog.showMessageBox({
    type: 'error',
    title: 'Wheelhouse',
    message: (known && TITLES[known.code]) ?? 'Wheelhouse cannot start',
    detail: [
      known?.message ?? 'Something went wrong inside Wheelhouse. The log in the data folder has the details.',
      known === null ? '' : `Code: ${known.code}${known.detail === undefined ? '' : ` (${known.detail})`}`,
      `Data folder: ${failure.dataDir}. Nothing in it was changed.`,
    ]
      .filter((line) => line !== '')
      .join('\n\n'),
    buttons: ['Open data folder', 'Quit'],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  })
  if (response === OPEN_FOLDER) await shell.openPath(failure.dataDir)
}
