import { useState } from 'react'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, ConfirmDialog, ErrorNote } from '../../ui/index.ts'
import styles from './gateway.module.css'

/** A new key for the gateway, for whoever thinks that somebody read the old one. */
export function NewKey() {
  const [asking, setAsking] = useState(false)
  const rotate = useChange('gateway.rotateKey')
  const { gateway } = strings
  return (
    <p className={styles.small}>
      {gateway.keyText} <Button onClick={() => setAsking(true)}>{gateway.newKey}</Button>
      <ConfirmDialog
        open={asking}
        title={gateway.newKeyTitle}
        description={gateway.newKeyText}
        confirm={gateway.newKey}
        cancel={gateway.cancel}
        pending={rotate.isPending}
        onConfirm={() => rotate.mutate({}, { onSuccess: () => setAsking(false) })}
        onClose={() => setAsking(false)}
      >
        {rotate.error !== null && <ErrorNote error={rotate.error} />}
      </ConfirmDialog>
    </p>
  )
}
