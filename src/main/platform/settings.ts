import { z } from 'zod'
import { AppError } from '../../shared/errors.ts'
import { isSettingKey, SETTINGS, SettingsFile, withDefaults, type SettingValues } from '../../shared/settings.ts'
import type { DurableFile, Log, Settings } from './types.ts'

const MAX_BYTES = 256 * 1024

type Chosen = Readonly<Record<string, unknown>>

/**
 * Reads the settings file. Only what somebody chose stands in it; defaults do not, so that a later version may change them.
 * @throws AppError `settings_invalid`: the file is no settings file, and is left as it is; `file_unsafe`, `file_failed`.
 */
export async function openSettings(path: string, { files, log }: { files: DurableFile; log: Log }): Promise<Settings> {
  let values = withDefaults(await readChosen(path, files))
  let turn: Promise<unknown> = Promise.resolve()
  const subscribers = new Set<(values: SettingValues) => void>()

  async function change(key: string, value: unknown): ReturnType<Settings['set']> {
    const checked = checkValue(key, value)
    // Read again: what a person changed in the file by hand, while this ran, is not written over.
    const chosen = { ...(await readChosen(path, files)), [key]: checked }
    const { durable } = await files.write(path, `${JSON.stringify(chosen, null, 2)}\n`)
    if (!durable) log.warn('A setting was saved, but a power failure may still undo it.', { key })
    values = withDefaults(chosen)
    for (const tell of subscribers) tell(values)
    return { values, durable }
  }

  return {
    values: () => values,
    get: (key) => values[key],
    set(key, value) {
      const mine = turn.then(() => change(key, value))
      turn = mine.catch(() => undefined)
      return mine
    },
    subscribe(fn) {
      // Of its own, so that one function may be handed in twice.
      const subscriber = (next: SettingValues): void => fn(next)
      subscribers.add(subscriber)
      return { [Symbol.dispose]: () => void subscribers.delete(subscriber) }
    },
  }
}

async function readChosen(path: string, files: DurableFile): Promise<Chosen> {
  const bytes = await files.read(path, { maxBytes: MAX_BYTES })
  if (bytes === null) return {}
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return SettingsFile.parse(JSON.parse(text))
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
    throw new AppError('settings_invalid', `The settings file ${path} cannot be read. Correct it, or move it away.`, {
      detail: why,
      cause: error,
    })
  }
}

function checkValue(key: string, value: unknown): unknown {
  if (!isSettingKey(key)) throw new AppError('input_invalid', 'There is no such setting.', { detail: key.slice(0, 64) })
  const checked = z.safeParse<z.ZodType>(SETTINGS[key].schema, value)
  if (checked.success) return checked.data
  throw new AppError('input_invalid', 'This setting cannot have that value.', {
    detail: `${key}: ${z.prettifyError(checked.error)}`,
  })
}
