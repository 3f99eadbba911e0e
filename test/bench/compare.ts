import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'

export const PRAGMAS = ['journal_mode = wal', 'synchronous = full', 'foreign_keys = on']

/** A bare database with the pragmas of ours: what is measured against. */
export function openBare(path: string): Database {
  const db = new Sqlite(path)
  for (const pragma of PRAGMAS) db.pragma(pragma)
  return db
}

/** The value that `share` of the samples are not above. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export async function timedAsync(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

export function timed(work: () => unknown): number {
  const began = performance.now()
  work()
  return performance.now() - began
}
