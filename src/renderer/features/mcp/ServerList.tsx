import type { McpServerView } from '../../../shared/bridge/index.ts'
import { useCall, useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { PathText } from '../../text/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { commandLineOf } from './form.ts'
import styles from './mcp.module.css'

export interface ServerListProps {
  onEdit: (server: McpServerView | null) => void
}

export function ServerList({ onEdit }: ServerListProps) {
  const { mcp } = strings
  const servers = useCall('mcp.list', {})
  const remove = useChange('mcp.delete')
  return (
    <>
      {servers.error !== null && <ErrorNote error={servers.error} onRetry={() => void servers.refetch()} />}
      {servers.data?.servers.length === 0 && <p>{mcp.empty}</p>}
      <ul className={styles.rows}>
        {(servers.data?.servers ?? []).map((server) => (
          <li key={server.id} className={styles.row}>
            <strong>{server.name}</strong>
            <span className={styles.small}>
              {server.scope.kind === 'person' ? mcp.everywhere : <PathText path={server.scope.path} />}
              {server.enabled ? '' : `, ${mcp.off}`}
            </span>
            <code className={styles.small}>{commandLineOf(server)}</code>
            <span className={styles.actions}>
              <Button aria-label={mcp.named(mcp.edit, server.name)} onClick={() => onEdit(server)}>
                {mcp.edit}
              </Button>
              <Button
                aria-label={mcp.named(mcp.remove, server.name)}
                pending={remove.isPending && remove.variables.id === server.id}
                onClick={() =>
                  remove.mutate({ id: server.id, expectedRev: server.rev }, { onSettled: () => void servers.refetch() })
                }
              >
                {mcp.remove}
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {remove.error !== null && <ErrorNote error={remove.error} />}
      <span>
        <Button onClick={() => onEdit(null)}>{mcp.add}</Button>
      </span>
    </>
  )
}
