import { classifyCommand } from '../../src/main/runtime/policy/index.ts'
import { median } from './types.ts'
import type { Benchmark, Figure } from './types.ts'

/**
 * Lists, pipes, redirects, substitutions, loops, here-documents, quotes. None of it is high: the walk ends at the first
 * part that is, and would measure nothing of what comes after.
 */
const PIECE = String.raw`cd "$HOME/work" && npm test -- --run 2>&1 | head -40; git -C . status --short || true
for f in src/*.ts; do grep -n "TODO $(basename "$f" .ts)" "$f" | sed 's/a/b/' > build/found.txt; done
find . -name '*.log' -print | xargs -n 1 wc -l
if [ -f package.json ]; then mkdir -p build/logs; cp package.json build/; fi
cat <<EOF | wc -c
text of a here-document $(date)
EOF
`

export const classify: Benchmark = {
  name: 'classify-command',
  group: 'runtime',
  how: '`classifyCommand` over shell text of every kind that it reads, median of warm calls.',
  run: () => Promise.resolve([figure('1 KiB of shell', 1_024, 1, 500), figure('64 KiB of shell', 65_536, 60, 50)]),
}

function figure(name: string, bytes: number, target: number, rounds: number): Figure {
  const text = commandOf(bytes)
  const samples: number[] = []
  for (let round = 0; round < rounds * 2; round++) {
    const began = performance.now()
    const { risk } = classifyCommand(text)
    const ms = performance.now() - began
    if (risk !== 'medium') throw new Error(`the command was judged ${risk}`)
    if (round >= rounds) samples.push(ms)
  }
  return { name, unit: 'ms', value: median(samples), samples, target: { kind: 'at_most', value: target } }
}

/** Whole lines, and a comment up to the size. */
function commandOf(bytes: number): string {
  const text = PIECE.repeat(Math.floor((bytes - 2) / PIECE.length))
  return `${text}#${'x'.repeat(bytes - text.length - 1)}`
}
