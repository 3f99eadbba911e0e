import { joinCommandLine, splitCommandLine } from '../../../shared/command-line.ts'
import type { McpServerInput, McpServerView } from '../../../shared/bridge/index.ts'

/** One variable as it stands in the form. Its value is in its field alone: it may be a secret. */
export interface VariableRow {
  key: number
  name: string
  secret: boolean
  /** What its field begins with; a secret's is never told. */
  shown: string
  /** A secret that the host has. */
  kept: boolean
}

export function rowsOf(server: McpServerView | null): VariableRow[] {
  return (server?.env ?? []).map(({ name, value }, key) => ({
    key,
    name,
    secret: value === null,
    shown: value ?? '',
    kept: value === null,
  }))
}

export const commandLineOf = (server: McpServerView | null): string =>
  server === null ? '' : joinCommandLine([server.command, ...server.args])

/** Null: the command is none. Read from the form when it is needed, and kept nowhere. */
export function inputOf(
  form: HTMLFormElement,
  rows: readonly VariableRow[],
  { server, required, enabled }: { server: McpServerView | null; required: boolean; enabled: boolean },
): McpServerInput | null {
  const data = new FormData(form)
  const text = (name: string): string => {
    const value = data.get(name)
    return typeof value === 'string' ? value : ''
  }
  const words = splitCommandLine(text('command'))
  if (words === null) return null
  const [command, ...args] = words
  const project = text('project').trim()
  return {
    ...(server === null ? {} : { id: server.id }),
    scope: project === '' ? { kind: 'person' } : { kind: 'project', path: project },
    name: text('name').trim(),
    command,
    args,
    env: rows.flatMap(({ key, secret, kept }) => {
      const name = text(`name-${key}`).trim()
      const value = text(`value-${key}`)
      if (name === '') return []
      return [{ name, secret, value: secret && kept && value === '' ? null : value }]
    }),
    required,
    enabled,
  }
}
