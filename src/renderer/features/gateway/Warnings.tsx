import type { TakeoverView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import styles from './gateway.module.css'

export function Warnings({ warnings }: { warnings: TakeoverView['warnings'] }) {
  return (
    <ul className={styles.warnings}>
      {warnings.map((warning) => (
        <li key={warning}>{strings.gateway.warning(warning)}</li>
      ))}
    </ul>
  )
}
