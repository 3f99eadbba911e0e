import type { RuleView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Revealed } from '../../text/index.ts'
import { ConfirmDialog, ErrorNote } from '../../ui/index.ts'
import styles from './permissions.module.css'

export interface WithdrawDialogProps {
  rule: RuleView
  onClose: () => void
  onWithdrawn: () => void
}

/** Takes a rule back, once it was said what that means. */
export function WithdrawDialog({ rule, onClose, onWithdrawn }: WithdrawDialogProps) {
  const remove = useChange('rules.delete')
  const { permissions } = strings
  return (
    <ConfirmDialog
      open
      title={permissions.withdrawTitle}
      description={permissions.withdrawText}
      confirm={permissions.withdraw}
      cancel={permissions.cancel}
      pending={remove.isPending}
      onConfirm={() => remove.mutate({ ruleId: rule.id }, { onSuccess: onWithdrawn })}
      onClose={onClose}
    >
      <p className={styles.what}>
        {permissions.says(rule)}{' '}
        <code className={styles.pattern}>
          <Revealed text={rule.pattern} />
        </code>
      </p>
      {remove.error !== null && <ErrorNote error={remove.error} />}
    </ConfirmDialog>
  )
}
