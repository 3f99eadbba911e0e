import { z } from 'zod'
import type { McpScope } from '../../../shared/mcp.ts'
import type { Store } from '../../platform/index.ts'

/** One variable of a server: a plain value, or the name of the slot that holds a secret. */
export const EnvEntry = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  z.strictObject({ name: z.string(), ref: z.string() }),
])
export type EnvEntry = z.infer<typeof EnvEntry>

export interface McpRow {
  id: string
  scope: McpScope
  name: string
  command: string
  args: readonly string[]
  env: readonly EnvEntry[]
  required: boolean
  enabled: boolean
  rev: number
}

const Row = z.object({
  id: z.string(),
  scope: z.enum(['person', 'project']),
  project: z.string(),
  name: z.string(),
  command: z.string(),
  args: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text))),
  env: z.string().transform((text) => z.array(EnvEntry).parse(JSON.parse(text))),
  required: z.number(),
  enabled: z.number(),
  rev: z.number(),
})

function toRow(raw: unknown): McpRow {
  const { scope, project, required, enabled, ...rest } = Row.parse(raw)
  return {
    ...rest,
    scope: scope === 'person' ? { kind: 'person' } : { kind: 'project', path: project },
    required: required === 1,
    enabled: enabled === 1,
  }
}

/** The table `mcp_servers`. Writes stand in the caller's transaction. */
export function createMcpTable({ db }: Store) {
  const allSql = db.prepare('SELECT * FROM mcp_servers ORDER BY scope, project, name')
  const getSql = db.prepare('SELECT * FROM mcp_servers WHERE id = ?')
  const putSql = db.prepare(`
    INSERT INTO mcp_servers (id, scope, project, name, command, args, env, required, enabled, rev, created_at, updated_at)
    VALUES (@id, @scope, @project, @name, @command, @args, @env, @required, @enabled, @rev, @now, @now)
    ON CONFLICT (id) DO UPDATE SET scope = @scope, project = @project, name = @name, command = @command, args = @args,
      env = @env, required = @required, enabled = @enabled, rev = @rev, updated_at = @now`)
  const deleteSql = db.prepare('DELETE FROM mcp_servers WHERE id = ?')
  return {
    all: (): readonly McpRow[] => allSql.all().map(toRow),
    get(id: string): McpRow | null {
      const raw = getSql.get(id)
      return raw === undefined ? null : toRow(raw)
    },
    put({ id, scope, name, command, args, env, required, enabled, rev }: McpRow, now: number): void {
      putSql.run({
        id,
        scope: scope.kind,
        project: scope.kind === 'project' ? scope.path : '',
        name,
        command,
        args: JSON.stringify(args),
        env: JSON.stringify(env),
        required: required ? 1 : 0,
        enabled: enabled ? 1 : 0,
        rev,
        now,
      })
    },
    delete: (id: string): void => void deleteSql.run(id),
  }
}
