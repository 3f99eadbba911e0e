import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { median } from './types.ts'
import type { Figure } from './types.ts'

export const PRAGMAS = ['journal_mode = wal', 'synchronous = full', 'foreign_keys = on']

/** A bare database with the pragmas of ours: what is measured against. */
export function openBare(path: string): Database {
  const db = new Sqlite(path)
  for (const pragma of PRAGMAS) db.pragma(pragma)
  return db
}

/** What was taken in turns: the median of `a` over that of `b`. The samples are the ratios turn by turn. */
export function ratio(name: string, a: readonly number[], b: readonly number[], target: Figure['target']): Figure {
  const samples = a.map((each, index) => each / (b[index] ?? Number.NaN))
  return { name, unit: 'times', value: median(a) / median(b), samples, target }
}

/** For what cannot be had where the way through takes a core that the direct one has to itself. */
export const HELD_TO_PIPE =
  'Where a bare pipe itself stays below the share of direct that is promised, for want of cores, 0.8 of what the pipe reaches is asked of the Router instead.'

/** What is asked: `share` of the direct way, or, where a bare pipe cannot have that, 0.8 of what it has. */
export function shareOf(share: number, pipe: readonly number[], direct: readonly number[]): number {
  const pipes = median(pipe) / median(direct)
  return pipes >= share ? share : Math.floor(0.8 * pipes * 100) / 100
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
