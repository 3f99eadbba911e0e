import styles from './Kbd.module.css'

/** A key, as a hint beside the words of its action. Said by `aria-keyshortcuts` elsewhere, so silent here. */
export function Kbd({ children }: { children: string }) {
  return (
    <kbd className={styles.kbd} aria-hidden="true">
      {children}
    </kbd>
  )
}
