import { AppError } from '../../shared/errors.ts'
import type { AppErrorOptions, ErrorCode } from '../../shared/errors.ts'
import type { ProcessIdentity } from './types.ts'

/** Was there a process; is it proven gone. `live`: it goes on, the error is about one call. */
export type Started = 'never' | 'ended' | 'held' | 'live'

export interface WorkerErrorOptions extends AppErrorOptions {
  started?: Started
  process?: ProcessIdentity
}

/** The one error of this system: an `AppError` that also says what became of the process. */
export class WorkerError extends AppError {
  readonly started: Started
  readonly process: ProcessIdentity | undefined

  constructor(code: ErrorCode, message: string, options: WorkerErrorOptions = {}) {
    super(code, message, options)
    this.name = 'WorkerError'
    this.started = options.started ?? 'live'
    this.process = options.process
  }

  /** The same error, told after the process ended (or was kept, unproven). */
  withStarted(started: Started, process?: ProcessIdentity): WorkerError {
    const known = process ?? this.process
    return new WorkerError(this.code, this.message, {
      started,
      retryable: this.retryable,
      ...(this.detail === undefined ? {} : { detail: this.detail }),
      ...(this.data === undefined ? {} : { data: this.data }),
      ...(this.cause === undefined ? {} : { cause: this.cause }),
      ...(known === undefined ? {} : { process: known }),
    })
  }
}

/** A configuration that no retry can fix. */
export function unusable(message: string, detail?: string): WorkerError {
  return new WorkerError('worker_unusable', message, {
    started: 'never',
    ...(detail === undefined ? {} : { detail }),
  })
}
