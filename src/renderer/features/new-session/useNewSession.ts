import { useState } from 'react'
import type { AgentView } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import { Mode } from '../../../shared/vocabulary.ts'
import type { AgentId, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { useBridge, useCall } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { navigate } from '../../stores/navigation.ts'

/** The form's values, what is chosen where nothing was, and the start of it all. */
export function useNewSession() {
  const bridge = useBridge()
  const agents = useCall('agents.list', {})
  const recent = useCall('projects.recent', {})
  const info = useCall('system.info', {})
  const defaultMode = Mode.safeParse(useTopic('settings', (state) => state.value['defaultMode']))
  const [chosenAgent, setAgent] = useState<AgentId | null>(null)
  const [chosenFolder, setFolder] = useState<string | null>(null)
  const [choice, setChoice] = useState<RuntimeChoice | null>(null)
  const [chosenMode, setMode] = useState<Mode | null>(null)
  const [wantsSandbox, setSandbox] = useState(false)
  const [missing, setMissing] = useState(false)
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<AppError | null>(null)

  const agentId = chosenAgent ?? firstUsable(agents.data?.agents ?? [])
  const suggested = info.data?.suggestedWorkDir ?? ''
  const folder = chosenFolder ?? recent.data?.projects.find((project) => project.exists)?.path ?? suggested
  const mode = chosenMode ?? (defaultMode.success ? defaultMode.data : 'agent')

  const whyNotConfined = agents.data?.agents.find(({ id }) => id === agentId)?.whyNotConfined ?? null
  const sandbox = wantsSandbox && whyNotConfined === null

  /** The session is made once: when only its first prompt fails, that one stands in it as a draft. */
  async function create(prompt: string, makeFolder: boolean): Promise<void> {
    if (makeFolder) await bridge.call('fs.createFolder', { path: folder })
    const made = await bridge.call('sessions.create', {
      agentId,
      workDir: folder,
      mode,
      ...(sandbox ? { sandbox } : {}),
      ...(choice === null ? {} : { choice }),
    })
    if (prompt.trim() !== '') {
      try {
        await bridge.call('runs.submit', { sessionId: made.id, text: prompt, key: `first:${made.id}` })
      } catch {
        await bridge.call('drafts.set', { sessionId: made.id, expectedRev: 0, text: prompt }).catch(() => {})
      }
    }
    navigate({ kind: 'session', sessionId: made.id })
  }

  return {
    agents,
    agentId,
    folder,
    choice,
    mode,
    sandbox,
    whyNotConfined,
    pending,
    error,
    folderError: missing && folder === '' ? strings.newSession.folderMissing : null,
    setAgent(id: AgentId) {
      setAgent(id)
      setChoice(null)
    },
    setFolder(path: string) {
      setFolder(path)
      setError(null)
    },
    setChoice,
    setMode,
    setSandbox,
    /** The suggested folder is made without asking: it was offered as one that is not there yet. */
    start(prompt: string, { makeFolder = folder === suggested } = {}) {
      setMissing(folder === '')
      if (folder === '' || pending) return
      setPending(true)
      setError(null)
      create(prompt, makeFolder)
        .catch((thrown: unknown) =>
          setError(thrown instanceof AppError ? thrown : new AppError('internal', 'The session could not be made.')),
        )
        .finally(() => setPending(false))
    },
  }
}

function firstUsable(agents: readonly AgentView[]): AgentId {
  return agents.find((agent) => agent.available)?.id ?? 'builtin'
}
