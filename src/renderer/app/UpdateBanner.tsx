import { strings } from '../strings/index.ts'
import { Button } from '../ui/index.ts'
import { useStaleInterface } from './useStaleInterface.ts'
import styles from './ConnectionBanner.module.css'

/** Offers the interface that belongs to the host, where this one is older. What is typed is kept by the host. */
export function UpdateBanner() {
  const stale = useStaleInterface()
  if (!stale) return null
  return (
    <div className={styles.banner} data-kind="updated" role="status">
      <p>{strings.app.updated}</p>
      <Button onClick={() => window.location.reload()}>{strings.app.reload}</Button>
    </div>
  )
}
