/** What a person is told where takeover cannot do what was asked, or did only half of it. */
import { AppError } from '../../../shared/errors.ts'

/** What is written there, and no record tells by whom. */
export function leadsElsewhere(path: string): AppError {
  return new AppError(
    'takeover_conflict',
    `${path} leads to another Wheelhouse, or to an earlier one. Switch it off there; where that is gone, repair it here first.`,
  )
}

/** The storage's own error would say that nothing was changed. */
export function offButUnrecorded(path: string, error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const [why, mend] =
    error.code === 'storage_full'
      ? ['the disk is full', 'Free some space']
      : ['its record cannot be written', 'Mend that']
  return new AppError(
    error.code,
    `${path} no longer leads to Wheelhouse, but that could not be recorded: ${why}. It is shown as drifted until then. ${mend}, then switch it off again.`,
    { ...(error.detail === undefined ? {} : { detail: error.detail }), cause: error },
  )
}
