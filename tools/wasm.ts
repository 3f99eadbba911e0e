/**
 * Compiles the Router's AssemblyScript into a module that every loader takes: `npm run wasm`, after each change of it. What
 * comes out is kept beside its source, so that nothing but that change needs the compiler.
 */
import { writeFileSync } from 'node:fs'

/** As much of the compiler as is used. Its own types would take the place of those of Array and String everywhere. */
interface Compiler {
  main(
    argv: readonly string[],
    io: {
      stderr: { write(chunk: string | Uint8Array): void }
      writeFile(name: string, contents: string | Uint8Array): void
    },
  ): Promise<{ error: Error | null }>
}
const COMPILER: string = 'assemblyscript/asc'

const SOURCE = 'src/main/providers/router/simd/scan.as.ts'
export const TARGET = 'src/main/providers/router/simd/scan.wasm.ts'

/** The text of `scan.wasm.ts`. Throws with the compiler's own words. */
export async function compileScan(): Promise<string> {
  let binary: Uint8Array | null = null
  let said = ''
  const { default: asc } = (await import(COMPILER)) as { default: Compiler }
  const { error } = await asc.main(
    // No run time of its own: two pages of memory, which the module and index.ts share out.
    [
      SOURCE,
      '-O3',
      '--enable',
      'simd',
      '--runtime',
      'stub',
      '--use',
      'abort=',
      '--initialMemory',
      '2',
      '-o',
      'scan.wasm',
    ],
    {
      stderr: { write: (chunk) => void (said += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()) },
      writeFile(_name, contents) {
        if (typeof contents !== 'string') binary = contents
      },
    },
  )
  if (error !== null || binary === null) throw new Error(`It does not compile.\n${said}`)
  return `/** Made of scan.as.ts by \`npm run wasm\`. */\nexport const WASM =\n  '${Buffer.from(binary).toString('base64')}'\n`
}

if (import.meta.main) writeFileSync(TARGET, await compileScan())
