import { useState } from 'react'
import { useTopic } from '../../stores/app-stores.tsx'

const SHOWN = 8
const TYPED = /^\/(\S*)$/

export interface SlashCommand {
  name: string
  description: string
}

export interface Slash {
  shown: readonly SlashCommand[]
  /** Index of the one that Enter and Tab take. */
  active: number
  choose: (command: SlashCommand) => void
  /** True: the key was for the list. */
  onKey: (key: string) => boolean
}

const NONE: readonly SlashCommand[] = []

/** The agent's own commands that begin as the prompt does, while that is all there is of it. */
export function useSlashCommands(sessionId: string, text: string, onType: (text: string) => void): Slash {
  const commands = useTopic('commands', ({ value }) => value.get(sessionId) ?? NONE)
  const [position, setPosition] = useState(0)
  /** What was typed when the list was closed by hand. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const typed = TYPED.exec(text)?.[1]?.toLowerCase()
  const fitting =
    typed === undefined || text === closedAt
      ? NONE
      : commands.filter(({ name }) => name.toLowerCase().startsWith(typed))
  const shown = fitting.slice(0, SHOWN)
  const active = Math.min(position, Math.max(0, shown.length - 1))
  const choose = ({ name }: SlashCommand): void => {
    setPosition(0)
    onType(`/${name} `)
  }
  return {
    shown,
    active,
    choose,
    onKey(key) {
      const command = shown[active]
      if (command === undefined) return false
      if (key === 'ArrowDown') setPosition((active + 1) % shown.length)
      else if (key === 'ArrowUp') setPosition((active - 1 + shown.length) % shown.length)
      else if (key === 'Escape') setClosedAt(text)
      // A command that is written out is sent by Enter as it stands.
      else if (key === 'Tab' || (key === 'Enter' && text !== `/${command.name}`)) choose(command)
      else return false
      return true
    },
  }
}
