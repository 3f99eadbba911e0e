/** The whole product round the real Codex. */
import { mkdirSync } from 'node:fs'
import { createAgentHost } from './agent-host.ts'
import type { AgentHost } from './agent-host.ts'
import type { UpstreamTurn } from './upstream.ts'

export { KEY, MODEL } from './agent-host.ts'

export interface CodexHost extends AgentHost {
  readonly codexHome: string
  /** Codex's own id of the session's conversation. */
  threadId(): string
}

export interface CodexHostOptions {
  turns?: readonly UpstreamTurn[]
  /** Files of the person's own in `CODEX_HOME`, by name. */
  codexFiles?: Readonly<Record<string, string>>
}

/** Opens the interface on a session of Codex whose connection leads to the scripted model server. */
export async function createCodexHost({ turns = [], codexFiles = {} }: CodexHostOptions = {}): Promise<CodexHost> {
  const host = await createAgentHost({
    agent: 'codex',
    turns,
    homeFiles: Object.fromEntries(Object.entries(codexFiles).map(([name, text]) => [`.codex/${name}`, text])),
    env(home) {
      const codexHome = `${home}/.codex`
      mkdirSync(codexHome, { recursive: true, mode: 0o700 })
      return { CODEX_HOME: codexHome }
    },
  })
  return { ...host, codexHome: `${host.home}/.codex`, threadId: host.agentSessionId }
}
