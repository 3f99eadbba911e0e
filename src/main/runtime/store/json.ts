import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'

/** What single columns are parsed with. Made once: to make a schema takes longer than to parse with it. */
export const Text = z.string()
export const Texts = z.array(z.string())
export const MaybeText = z.string().nullable()
export const Count = z.number()
export const MaybeCount = z.number().nullable()

/**
 * Reads a JSON column. @throws AppError `database_corrupt` naming the row: that row alone is unusable, not the database.
 */
export function readJson<T>(schema: z.ZodType<T>, text: string, where: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw corrupt(where, error)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw corrupt(where, parsed.error)
}

/** As `readJson`, of any object: for what is read by the hundred thousand and parsed by its type where it is used. */
export function readObject(text: string, where: () => string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw corrupt(where(), error)
  }
  if (isObject(value)) return value
  throw corrupt(where(), new TypeError('not an object'))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Those of `rows` that can be read: a damaged record must not hide the others. Asked for alone, it says that it is damaged. */
export function readable<R, T>(rows: readonly R[], read: (raw: R) => T): T[] {
  return rows.flatMap((raw) => {
    try {
      return [read(raw)]
    } catch (error) {
      if (error instanceof AppError && error.code === 'database_corrupt') return []
      throw error
    }
  })
}

function corrupt(where: string, cause: unknown): AppError {
  return new AppError('database_corrupt', 'A record in the database cannot be read. Other sessions are not affected.', {
    detail: where,
    cause,
  })
}

/** SQLite knows no booleans. */
export function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}
