import { useState } from 'react'
import type { CatalogView } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import type { AgentId, ClientId, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { useBridge, useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { navigate } from '../../stores/navigation.ts'

/** What the person chose so far; each step may leave it as it is. */
export interface FirstRunState {
  agentId: AgentId
  /** Null: the agent's own model, or none yet. */
  connectionId: string | null
  folder: string
  /** The folder is the one that was offered, which is not there yet. */
  folderIsNew: boolean
  catalog: CatalogView | null
  pending: boolean
  error: AppError | null
  setAgent: (agentId: AgentId) => void
  setConnection: (connectionId: string | null) => void
  setFolder: (path: string) => void
  start: (makeFolder: boolean) => void
  /** Ends the first steps without a session. */
  leave: () => void
}

/** The client whose connections serve this agent; null: it runs on its own login alone. */
export function clientOf(agentId: AgentId): ClientId | null {
  return agentId === 'builtin' || agentId === 'codex' || agentId === 'claude' ? agentId : null
}

/** Whether a connection is the rehearsal: said wherever it is used. */
function isRehearsal(catalog: CatalogView | null, connectionId: string | null): boolean {
  return catalog?.connections.some(({ id, preset }) => id === connectionId && preset === 'rehearsal') === true
}

export function useFirstRun(): FirstRunState {
  const bridge = useBridge()
  const catalog = useTopic('providers', (state) => state.value)
  const info = useCall('system.info', {})
  const recent = useCall('projects.recent', {})
  const [agentId, setAgentId] = useState<AgentId>('builtin')
  const [chosen, setChosen] = useState<string | null | undefined>(undefined)
  const [chosenFolder, setFolder] = useState<string | null>(null)
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<AppError | null>(null)

  const client = clientOf(agentId)
  const byDefault = client === null ? null : (catalog?.defaults[client]?.connectionId ?? null)
  const connectionId = chosen === undefined ? byDefault : chosen
  const suggested = info.data?.suggestedWorkDir ?? ''
  const folder = chosenFolder ?? recent.data?.projects.find(({ exists }) => exists)?.path ?? suggested

  const attempt = (action: () => Promise<void>): void => {
    if (pending) return
    setPending(true)
    setError(null)
    action()
      .catch((thrown: unknown) =>
        setError(thrown instanceof AppError ? thrown : new AppError('internal', 'The session could not be made.')),
      )
      .finally(() => setPending(false))
  }

  async function startNow(makeFolder: boolean): Promise<void> {
    if (makeFolder) await bridge.call('fs.createFolder', { path: folder })
    const choice = catalog === null || connectionId === null ? null : choiceOf(catalog, connectionId)
    const session = await bridge.call('sessions.create', {
      agentId,
      workDir: folder,
      ...(choice === null ? {} : { choice }),
    })
    if (isRehearsal(catalog, connectionId)) {
      // A convenience alone: a session without it is as good.
      await bridge
        .call('drafts.set', { sessionId: session.id, expectedRev: 0, text: strings.firstRun.rehearsalPrompt })
        .catch(() => undefined)
    }
    await bridge.call('settings.set', { key: 'welcomeDone', value: true })
    navigate({ kind: 'session', sessionId: session.id })
  }

  return {
    agentId,
    connectionId,
    folder,
    folderIsNew: folder !== '' && folder === suggested,
    catalog,
    pending,
    error,
    setAgent(next) {
      setAgentId(next)
      setChosen(undefined)
    },
    setConnection: setChosen,
    setFolder(path) {
      setFolder(path)
      setError(null)
    },
    start: (makeFolder) => attempt(() => startNow(makeFolder)),
    leave: () =>
      attempt(async () => {
        await bridge.call('settings.set', { key: 'welcomeDone', value: true })
        navigate({ kind: 'home' })
      }),
  }
}

/** The connection with its default model, else with the first one that it offers. */
function choiceOf(catalog: CatalogView, connectionId: string): RuntimeChoice {
  const preferred = Object.values(catalog.defaults).find((each) => each.connectionId === connectionId)?.modelId
  const models = catalog.models[connectionId] ?? []
  const first = models.find(({ enabled, available }) => enabled && available)?.id ?? models[0]?.id
  const named = catalog.connections.find(({ id }) => id === connectionId)?.manualModelId
  return { connectionId, modelId: preferred ?? first ?? named ?? null, effort: 'default' }
}
