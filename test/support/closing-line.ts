import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Prints the closing line `N passed, N failed` that CI reads, counting a file that did not load as a failure, and a run
 * without a single test as one too.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0 }
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++
      for (const test of module.children.allTests()) count[stateOf(test)]++
    }
    if (count.passed + count.failed === 0) count.failed = 1
    if (count.failed > 0) process.exitCode = 1
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}

function stateOf(test: TestCase): 'passed' | 'failed' | 'skipped' {
  const { state } = test.result()
  return state === 'passed' || state === 'failed' ? state : 'skipped'
}
