import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import type { Slash } from './useSlashCommands.ts'
import styles from './Composer.module.css'

/** The agent's commands to choose from, above the prompt. The keys are the prompt's. */
export function SlashCommands({ id, slash }: { id: string; slash: Slash }) {
  return (
    <ul id={id} role="listbox" aria-label={strings.session.commands} className={styles.commands}>
      {slash.shown.map((command, index) => (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- keys are the prompt's
        <li
          key={command.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === slash.active}
          className={styles.command}
          // The prompt keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => slash.choose(command)}
        >
          <code>
            /<Revealed text={command.name} />
          </code>
          <span className={styles.commandText}>
            <Revealed text={command.description} />
          </span>
        </li>
      ))}
    </ul>
  )
}
