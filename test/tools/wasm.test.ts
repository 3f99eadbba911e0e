import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileScan, TARGET } from '../../tools/wasm.ts'

test('the WebAssembly that is kept is what its source compiles to', async () => {
  expect(await compileScan()).toBe(readFileSync(TARGET, 'utf8'))
})
