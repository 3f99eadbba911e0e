import { z } from 'zod'
import type { ConnectionView } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { ClientId } from '../../../shared/vocabulary.ts'
import { useChange } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { ConfirmDialog, ErrorNote } from '../../ui/index.ts'
import styles from './providers.module.css'

interface ConfirmationProps {
  connection: ConnectionView
  revision: number
  onClose: () => void
}

export function ConfirmDelete({ connection, revision, onClose }: ConfirmationProps) {
  const change = useChange('providers.delete')
  const { providers } = strings
  return (
    <ConfirmDialog
      open
      title={providers.deleteTitle(connection.name)}
      description={connection.credentialHint === undefined ? providers.deleteTextNoKey : providers.deleteText}
      confirm={providers.remove}
      cancel={providers.cancel}
      pending={change.isPending}
      onConfirm={() => change.mutate({ id: connection.id, expectedRevision: revision }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {change.error !== null && <Refusal error={change.error} />}
    </ConfirmDialog>
  )
}

export function ConfirmClear({ connection, revision, onClose }: ConfirmationProps) {
  const change = useChange('providers.credential.clear')
  const { providers } = strings
  return (
    <ConfirmDialog
      open
      title={providers.clearTitle(connection.name)}
      description={providers.clearText}
      confirm={providers.clearKey}
      cancel={providers.cancel}
      pending={change.isPending}
      onConfirm={() => change.mutate({ id: connection.id, expectedRevision: revision }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {change.error !== null && <Refusal error={change.error} />}
    </ConfirmDialog>
  )
}

/** Sessions that are named one by one. */
const NAMED = 5

/** Who uses it, by name: what a person has to change first. */
function Refusal({ error }: { error: AppError }) {
  const sessions = useTopic('sessions', (state) => state.value)
  const users = usersOf(error)
  if (users === null) return <ErrorNote error={error} />
  const { providers } = strings
  const names = [
    ...users.clients.map((client) => providers.inUseDefault(agentName(client))),
    ...users.gateways.map((client) => providers.inUseGateway(agentName(client))),
    ...users.chains.map((client) => providers.inUseFallback(agentName(client))),
    ...users.sessions.slice(0, NAMED).map((id) => providers.inUseSession(sessions.get(id)?.title ?? id)),
    ...(users.sessions.length > NAMED ? [providers.inUseMore(users.sessions.length - NAMED)] : []),
  ]
  return (
    <p role="alert" className={styles.warning}>
      {providers.inUse(names.join(', '))}
    </p>
  )
}

function agentName(client: string): string {
  const known = ClientId.safeParse(client)
  return known.success ? strings.agents.name(known.data) : client
}

const Names = z.array(z.string()).default([])
const Users = z.object({ clients: Names, gateways: Names, chains: Names, sessions: Names })

function usersOf({ code, data }: AppError): z.infer<typeof Users> | null {
  return code === 'model_profile_in_use' ? (Users.safeParse(data).data ?? null) : null
}
