/**
 * Writes a declaration for each CSS module below src/renderer into generated/css, so that a misspelt class is a type
 * error. The names come from the very compiler that builds them.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transform } from 'lightningcss'

const OUT = 'generated/css'

rmSync(OUT, { recursive: true, force: true })
for (const file of globSync('src/renderer/**/*.module.css').sort()) {
  const compiled = transform({ filename: file, code: readFileSync(file), cssModules: true })
  const names = Object.keys(compiled.exports ?? {}).sort()
  const target = join(OUT, file.replace(/\.css$/, '.d.css.ts'))
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(
    target,
    `declare const classes: {\n${names.map((name) => `  readonly ${JSON.stringify(name)}: string\n`).join('')}}\nexport default classes\n`,
  )
}
