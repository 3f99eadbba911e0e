/** One measured number and what the product promises about it. */
export interface Figure {
  readonly name: string
  readonly unit: 'ms' | 'MB' | 'KB' | 'times' | 'commits' | 'count'
  /** What is held against the target: the median of the samples, unless `name` or `how` says otherwise. */
  readonly value: number
  readonly samples: readonly number[]
  readonly target: { readonly kind: 'at_most' | 'at_least'; readonly value: number }
}

export interface Benchmark {
  readonly name: string
  /** Several can be asked for by one name. */
  readonly group?: 'router' | 'runtime' | 'workers'
  /** One sentence: what is measured, and against what. */
  readonly how: string
  run(): Promise<readonly Figure[]>
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

export function isMet({ value, target }: Figure): boolean {
  return target.kind === 'at_most' ? value <= target.value : value >= target.value
}
