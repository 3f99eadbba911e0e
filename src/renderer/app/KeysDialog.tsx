import { strings } from '../strings/index.ts'
import { Button, Dialog, Kbd } from '../ui/index.ts'
import { modifierName } from './platform.ts'
import styles from './KeysDialog.module.css'

export function KeysDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { keys } = strings.app
  return (
    <Dialog
      open={open}
      size="wide"
      title={keys.title}
      onClose={onClose}
      actions={<Button onClick={onClose}>{keys.close}</Button>}
    >
      <div className={styles.groups}>
        {groups().map(({ name, rows }) => (
          <section key={name} className={styles.group}>
            <h3>{name}</h3>
            <dl>
              {rows.map(([words, ...pressed]) => (
                <div key={words} className={styles.row}>
                  <dt>{words}</dt>
                  <dd>
                    {pressed.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                    <span className={styles.said}>{pressed.join(', ')}</span>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

function groups(): readonly { name: string; rows: readonly (readonly [string, ...string[]])[] }[] {
  const { keys } = strings.app
  const mod = modifierName()
  return [
    {
      name: keys.groups.everywhere,
      rows: [
        [keys.palette, `${mod}K`],
        [keys.newSession, 'N'],
        [keys.approvals, 'G'],
        [keys.sidebar, `${mod}B`],
        [keys.help, '?'],
      ],
    },
    {
      name: keys.groups.list,
      rows: [
        [keys.find, '/'],
        [keys.nextRow, 'J', 'K'],
        [keys.open, 'Enter'],
      ],
    },
    {
      name: keys.groups.session,
      rows: [
        [keys.prompt, 'I'],
        [keys.jumpTurn, '[', ']'],
        [keys.endTurns, '{', '}'],
        [keys.send, 'Enter'],
        [keys.newline, 'Shift+Enter'],
        [keys.stop, 'Esc Esc'],
      ],
    },
    { name: keys.groups.approvals, rows: [[keys.answer, 'A', 'D']] },
  ]
}
