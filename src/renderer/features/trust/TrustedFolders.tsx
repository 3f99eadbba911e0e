import { useRef, useState } from 'react'
import type { TrustedFolder } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { exactTime, PathText, revealText, shortTime, useNow } from '../../text/index.ts'
import { Button, ConfirmDialog, ErrorNote, Row, RowActions, RowHead, Rows, StateMark } from '../../ui/index.ts'
import styles from './trust.module.css'

/** Every folder that a person answered for. */
export function TrustedFolders() {
  const loaded = useTopic('trust', (state) => state.loaded)
  const folders = useTopic('trust', (state) => state.value)
  const [asking, setAsking] = useState<TrustedFolder | null>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const { trust } = strings
  return (
    <section className={styles.section} aria-labelledby="trusted-folders">
      <header>
        <h2 id="trusted-folders" ref={heading} tabIndex={-1}>
          {trust.heading}
        </h2>
        <p className={styles.small}>{trust.headingText}</p>
      </header>
      {loaded && folders.length === 0 && <p className={styles.empty}>{trust.none}</p>}
      {folders.length > 0 && (
        <Rows aria-label={trust.heading}>
          {folders.map((folder) => (
            <FolderRow key={folder.folder} folder={folder} onWithdraw={() => setAsking(folder)} />
          ))}
        </Rows>
      )}
      {asking !== null && (
        <WithdrawTrust
          folder={asking}
          onClose={() => setAsking(null)}
          onWithdrawn={() => {
            setAsking(null)
            // Its row took the focus with it.
            requestAnimationFrame(() => heading.current?.focus())
          }}
        />
      )}
    </section>
  )
}

function FolderRow({ folder, onWithdraw }: { folder: TrustedFolder; onWithdraw: () => void }) {
  const { trust } = strings
  const nowMs = Math.max(useNow(), folder.answeredAt)
  return (
    <Row>
      <RowHead>
        <StateMark
          showLabel
          state={folder.trusted ? 'completed' : 'idle'}
          label={folder.trusted ? trust.isTrusted : trust.isNotTrusted}
        />
        <PathText path={folder.folder} />
        <time
          className={styles.small}
          dateTime={new Date(folder.answeredAt).toISOString()}
          title={exactTime(folder.answeredAt)}
        >
          {shortTime(folder.answeredAt, nowMs)}
        </time>
        <RowActions>
          <Button aria-label={trust.named(trust.withdraw, revealText(folder.folder))} onClick={onWithdraw}>
            {trust.withdraw}
          </Button>
        </RowActions>
      </RowHead>
    </Row>
  )
}

function WithdrawTrust({
  folder,
  onClose,
  onWithdrawn,
}: {
  folder: TrustedFolder
  onClose: () => void
  onWithdrawn: () => void
}) {
  const withdraw = useChange('trust.withdraw')
  const { trust } = strings
  return (
    <ConfirmDialog
      open
      title={trust.withdrawTitle}
      description={trust.withdrawText}
      confirm={trust.withdraw}
      cancel={trust.cancel}
      pending={withdraw.isPending}
      onConfirm={() => withdraw.mutate({ folder: folder.folder }, { onSuccess: onWithdrawn })}
      onClose={onClose}
    >
      <p>
        <PathText path={folder.folder} />
      </p>
      {withdraw.error !== null && <ErrorNote error={withdraw.error} />}
    </ConfirmDialog>
  )
}
