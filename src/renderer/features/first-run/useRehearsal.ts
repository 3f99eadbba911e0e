import { useState } from 'react'
import { AppError } from '../../../shared/errors.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { useBridge } from '../../bridge/index.ts'
import type { Bridge } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'

/** Sets the rehearsal up for one agent: its connection, its models, and the default where there is none. */
export function useRehearsal(client: ClientId | null, onReady: (connectionId: string) => void) {
  const bridge = useBridge()
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<AppError | null>(null)
  return {
    pending,
    error,
    use: () => {
      if (client === null || pending) return
      setPending(true)
      setError(null)
      prepare(bridge, client)
        .then(onReady)
        .catch((thrown: unknown) =>
          setError(thrown instanceof AppError ? thrown : new AppError('internal', strings.firstRun.rehearsalEmpty)),
        )
        .finally(() => setPending(false))
    },
  }
}

async function prepare(bridge: Bridge, client: ClientId): Promise<string> {
  const connectionId = await findOrMake(bridge, client)
  const { models } = await bridge.call('providers.discover', { id: connectionId })
  const [model] = models
  if (model === undefined) throw new AppError('upstream_invalid', strings.firstRun.rehearsalEmpty)
  const { revision, defaults } = await bridge.call('providers.list', {})
  if (defaults[client] === undefined) {
    await bridge.call('providers.setDefault', { client, connectionId, modelId: model.id, expectedRevision: revision })
  }
  return connectionId
}

async function findOrMake(bridge: Bridge, client: ClientId): Promise<string> {
  const { connections, revision } = await bridge.call('providers.list', {})
  const found = connections.find((each) => each.preset === 'rehearsal' && each.client === client)
  if (found !== undefined) return found.id
  const { connectionId } = await bridge.call('providers.upsert', {
    connection: { name: strings.firstRun.rehearsalName(strings.agents.name(client)), client, preset: 'rehearsal' },
    expectedRevision: revision,
  })
  if (connectionId === null) throw new AppError('internal', strings.firstRun.rehearsalEmpty)
  return connectionId
}
