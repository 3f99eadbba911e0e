import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const setupFiles = ['./test/support/strict.ts']
/** What a test waits for comes at once on a quiet machine; on a busy one it may take its time. */
const patience = { poll: { timeout: 20_000 } }

/** Held against a clock that frames are drawn by: these get the machine to themselves. */
const timed = ['test/e2e/transcript.test.ts']

/** Projects run group after group: the browser suites get the machine to themselves, two files at a time. */
export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{main,shared,agent,mcp-bridge,preload,tools}/**/*.test.ts'],
          setupFiles,
          expect: patience,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // They wait for processes more than they work: three share two cores well.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        plugins: [react()],
        test: {
          name: 'renderer',
          environment: 'happy-dom',
          include: ['test/renderer/**/*.test.{ts,tsx}'],
          setupFiles: [...setupFiles, './test/support/dom.ts'],
          expect: patience,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'electron',
          include: ['test/electron/**/*.test.ts'],
          setupFiles,
          expect: patience,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: timed,
          setupFiles,
          expect: patience,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'e2e-timed',
          include: timed,
          setupFiles,
          expect: patience,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          name: 'agents',
          include: ['test/agents/*.test.ts'],
          setupFiles,
          expect: patience,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
})
