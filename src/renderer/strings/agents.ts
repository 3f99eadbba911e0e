import type { AgentId } from '../../shared/vocabulary.ts'

const NAMES: Readonly<Record<'builtin' | 'codex' | 'claude', string>> = {
  builtin: 'Built-in agent',
  codex: 'Codex',
  claude: 'Claude Code',
}

export const agents = {
  /** A command that a person added goes by its own name. */
  name: (id: AgentId): string => (id === 'builtin' || id === 'codex' || id === 'claude' ? NAMES[id] : id.slice(4)),
} as const
