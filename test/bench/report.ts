import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { isMet } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

export interface Machine {
  cpu: string
  cores: number
  memoryGB: number
  kernel: string
  node: string
  /** Processes that wanted a core in the minute before: what else was going on. */
  load: number
}

export interface Result {
  benchmark: Pick<Benchmark, 'name' | 'how'>
  figures: readonly Figure[]
}

export function thisMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGB: Math.round(totalmem() / 1e9),
    kernel: `${type()} ${release()}`,
    node: process.version,
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  }
}

/** For the terminal: one figure a line. */
export function lineOf(figure: Figure): string {
  const { name, target } = figure
  const bound = `${target.kind === 'at_most' ? 'at most' : 'at least'} ${target.value}`
  return `  ${isMet(figure) ? 'ok    ' : 'MISSED'}  ${name}: ${shown(figure.value, figure.unit)} (${bound})`
}

/** Writes `benchmarks.json` and `benchmarks.md`, whole. */
export function writeReport(folder: string, report: { date: string; machine: Machine; results: readonly Result[] }) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'benchmarks.json'), `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(join(folder, 'benchmarks.md'), asMarkdown(report))
}

function asMarkdown({ date, machine, results }: Parameters<typeof writeReport>[1]): string {
  const rows = results.flatMap(({ benchmark, figures }) =>
    figures.map((figure) => {
      const { name, unit, value, samples, target } = figure
      const range =
        samples.length > 1 ? `${shown(Math.min(...samples), unit)} to ${shown(Math.max(...samples), unit)}` : ''
      const bound = `${target.kind === 'at_most' ? 'at most' : 'at least'} ${target.value}`
      return `| ${benchmark.name} | ${name} | ${shown(value, unit)} | ${range} | ${bound} | ${isMet(figure) ? 'yes' : '**no**'} |`
    }),
  )
  return `# Benchmarks

Written by \`npm run bench\`; do not edit. The samples are in [benchmarks.json](benchmarks.json).

- Date: ${date}
- Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.kernel}
- Node: ${machine.node}
- Load when it began: ${machine.load}

| benchmark | figure | median | range | target | met |
| --- | --- | ---: | ---: | ---: | --- |
${rows.join('\n')}

## How each is measured

${results.map(({ benchmark }) => `- **${benchmark.name}**: ${benchmark.how}`).join('\n')}
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
