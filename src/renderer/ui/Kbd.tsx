import styles from './Kbd.module.css'

/**
 * A key, as a hint beside the words of its action. Said by `aria-keyshortcuts` elsewhere, so silent here, and drawn by the
 * style: it is no part of what the control is called.
 */
export function Kbd({ children }: { children: string }) {
  return <kbd className={styles.kbd} data-key={children} aria-hidden="true" />
}
