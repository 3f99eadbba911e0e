import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { isMet } from './types.ts'
import type { Figure } from './types.ts'

export interface Machine {
  cpu: string
  cores: number
  memoryGB: number
  kernel: string
  node: string
}

export interface Result {
  name: string
  how: string
  date: string
  /** Processes that wanted a core in the minute before it: what else was going on. */
  load: number
  figures: readonly Figure[]
}

export interface Report {
  machine: Machine
  results: readonly Result[]
}

export function thisMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGB: Math.round(totalmem() / 1e9),
    kernel: `${type()} ${release()}`,
    node: process.version,
  }
}

export const loadNow = (): number => Math.round((loadavg()[0] ?? 0) * 10) / 10

/** For the terminal: one figure a line. */
export function lineOf(figure: Figure): string {
  const { name, target } = figure
  const bound = `${target.kind === 'at_most' ? 'at most' : 'at least'} ${target.value}`
  return `  ${isMet(figure) ? 'ok    ' : 'MISSED'}  ${name}: ${shown(figure.value, figure.unit)} (${bound})`
}

/** Writes `benchmarks.json` and `benchmarks.md`. Of what was not run now, the figures of before stay if it was the same machine. */
export function writeReport(folder: string, { machine, results }: Report, order: readonly string[]): void {
  const file = join(folder, 'benchmarks.json')
  const before = readReport(file)
  const known = new Map(
    (sameMachine(before?.machine, machine) ? (before?.results ?? []) : []).map((each) => [each.name, each]),
  )
  for (const each of results) known.set(each.name, each)
  const report = { machine, results: order.flatMap((name) => known.get(name) ?? []) }
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(join(folder, 'benchmarks.md'), asMarkdown(report))
}

/** It is a file of ours; what is not of today's form counts as none. */
function readReport(file: string): Report | null {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    return report.results.every(({ name, figures }) => typeof name === 'string' && Array.isArray(figures))
      ? report
      : null
  } catch {
    return null
  }
}

const sameMachine = (before: Machine | undefined, now: Machine): boolean =>
  JSON.stringify(before) === JSON.stringify(now)

function asMarkdown({ machine, results }: Report): string {
  const rows = results.flatMap(({ name: benchmark, date, load, figures }) =>
    figures.map((figure) => {
      const { name, unit, value, samples, target } = figure
      const range =
        samples.length > 1 ? `${shown(Math.min(...samples), unit)} to ${shown(Math.max(...samples), unit)}` : ''
      const bound = `${target.kind === 'at_most' ? 'at most' : 'at least'} ${target.value}`
      return `| ${benchmark} | ${name} | ${shown(value, unit)} | ${range} | ${bound} | ${isMet(figure) ? 'yes' : '**no**'} | ${date} | ${load} |`
    }),
  )
  return `# Benchmarks

Written by \`npm run bench -- --write\`; do not edit. The samples are in [benchmarks.json](benchmarks.json). Load: how many
processes wanted a core in the minute before.

- Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.kernel}
- Node: ${machine.node}

| benchmark | figure | median | range | target | met | date | load |
| --- | --- | ---: | ---: | ---: | --- | --- | ---: |
${rows.join('\n')}

## How each is measured

${results.map(({ name, how }) => `- **${name}**: ${how}`).join('\n')}
`
}

function shown(value: number, unit: Figure['unit']): string {
  switch (unit) {
    case 'ms':
      return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`
    case 'KB':
    case 'MB':
      return `${value.toFixed(0)} ${unit}`
    case 'times':
      return `${value.toFixed(2)}×`
    case 'commits':
    case 'count':
      return String(value)
    default:
      return unit satisfies never
  }
}
