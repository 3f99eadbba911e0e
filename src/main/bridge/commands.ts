import type { TopicEvent } from '../../shared/bridge/index.ts'
import type { RuntimeChange } from '../runtime/index.ts'
import { createStateTopic } from './state-topic.ts'
import type { StateTopic } from './state-topic.ts'

type Commands = Extract<TopicEvent<'commands'>, { kind: 'changed' }>['commands']

const MAX_SESSIONS = 200
const MAX_COMMANDS = 200
const MAX_NAME_CHARS = 100
const MAX_DESCRIPTION_CHARS = 300

/** What each agent said last that it takes as a slash command, for as long as this host runs. */
export function createCommandsTopic(): StateTopic<TopicEvent<'commands'>> & { onChange(change: RuntimeChange): void } {
  const bySession = new Map<string, Commands>()
  const topic = createStateTopic<TopicEvent<'commands'>>(() => ({
    kind: 'snapshot',
    sessions: [...bySession].map(([sessionId, commands]) => ({ sessionId, commands })),
  }))
  return {
    ...topic,
    onChange(change) {
      if (change.kind === 'session' && change.deleted === true) bySession.delete(change.sessionId)
      if (change.kind !== 'commands') return
      const { sessionId } = change
      const commands = change.commands.slice(0, MAX_COMMANDS).map(({ name, description }) => ({
        name: name.slice(0, MAX_NAME_CHARS),
        description: description.slice(0, MAX_DESCRIPTION_CHARS),
      }))
      // The session that was told last is the last one to be forgotten.
      bySession.delete(sessionId)
      bySession.set(sessionId, commands)
      for (const oldest of bySession.keys()) {
        if (bySession.size <= MAX_SESSIONS) break
        bySession.delete(oldest)
      }
      topic.publish({ kind: 'changed', sessionId, commands })
    },
  }
}
