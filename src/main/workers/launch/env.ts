/** A worker's environment. Nothing is inherited: exact names only. */

export const BASE_ENV = [
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TERM',
  'TMPDIR',
  'TZ',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
] as const

/** The allowed names that the host has, and `extra`, which wins. Names with `=` or NUL are skipped; sorted. */
export function buildEnv(
  allow: readonly string[],
  lookup: (name: string) => string | undefined,
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  const found = new Map<string, string>()
  for (const name of [...BASE_ENV, ...allow]) {
    const value = lookup(name)
    if (value !== undefined) found.set(name, value)
  }
  for (const [name, value] of Object.entries(extra)) found.set(name, value)
  const usable = [...found].filter(([name, value]) => name !== '' && !/[=\0]/.test(name) && !value.includes('\0'))
  return Object.fromEntries(usable.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What Node is given: it adds `NODE_V8_COVERAGE` to any child on its own unless the key is there, undefined. */
export function spawnEnv(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { NODE_V8_COVERAGE: undefined, ...env }
}
