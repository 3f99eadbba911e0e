/** Every program that is known, by name. */
import { WRAPPERS } from '../wrappers.ts'
import type { Judge } from '../program.ts'
import { CONTAINERS } from './containers.ts'
import { FILES } from './files.ts'
import { GIT } from './git.ts'
import { PACKAGES } from './packages.ts'
import { READING } from './readers.ts'
import { interpreter, interpreterName, SHELLS } from './shells.ts'
import { makeFileSystem, SYSTEM } from './system.ts'

const PROGRAMS: ReadonlyMap<string, Judge> = new Map(
  [WRAPPERS, SHELLS, FILES, READING, SYSTEM, GIT, PACKAGES, CONTAINERS].flatMap((table) =>
    table.flatMap(([names, judge]) => names.split(' ').map((name) => [name, judge] as const)),
  ),
)

/** How to judge this program, and the name under which its table knows it; null for an unknown one. */
export function findProgram(name: string): { name: string; judge: Judge } | null {
  const judge = PROGRAMS.get(name)
  if (judge !== undefined) return { name, judge }
  if (name.startsWith('mkfs')) return { name, judge: makeFileSystem }
  const family = interpreterName(name)
  return family === null ? null : { name: family, judge: interpreter }
}
