import { useEffect, useEffectEvent, useRef } from 'react'
import type { DecisionView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { useView, viewHash } from '../../stores/navigation.ts'
import { Revealed } from '../../text/index.ts'
import { EmptyState, View } from '../../ui/index.ts'
import { ApprovalCard } from './ApprovalCard.tsx'
import { Settled } from './Settled.tsx'
import { isCardKey, pendingCards } from './useCardKeys.ts'
import { useShown } from './useShown.ts'
import styles from './view.module.css'

/** What waits for a person in all sessions, oldest first. */
export function ApprovalsView() {
  const { loaded, shown, pendingCount, recent, release } = useShown()
  const view = useView()
  const wanted = view.kind === 'approvals' ? view.decisionId : null
  const headingRef = useRef<HTMLHeadingElement>(null)
  useMoveKeys()
  useWanted(wanted, loaded)

  // The last card took the focus with it: it is kept in the view.
  useEffect(() => {
    if (document.activeElement === document.body && shown.length > 0 && pendingCount === 0) headingRef.current?.focus()
  }, [pendingCount, shown.length])

  const answered = (decisionId: string): void => {
    const cards = pendingCards()
    const at = cards.findIndex((card) => card.dataset['decisionId'] === decisionId)
    const others = cards.filter((card) => card.dataset['decisionId'] !== decisionId)
    const next = others[Math.min(Math.max(at, 0), others.length - 1)] ?? headingRef.current
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
    release(decisionId)
  }

  return (
    <View
      title={strings.approvals.heading}
      headingRef={headingRef}
      action={
        <a className={styles.more} href={viewHash({ kind: 'permissions' })}>
          {strings.permissions.rulesAndHistory}
        </a>
      }
      beside={
        <>
          {pendingCount > 0 && <span className={styles.count}>{strings.approvals.pendingCount(pendingCount)}</span>}
          {pendingCount > 0 && <span className={styles.hint}>{strings.approvals.keysHint}</span>}
        </>
      }
    >
      {loaded && shown.length === 0 && (
        <EmptyState title={strings.approvals.empty}>{strings.approvals.emptyText}</EmptyState>
      )}
      {shown.length > 0 && (
        <div className={styles.list} role="group" aria-label={strings.approvals.pendingList}>
          {shown.map((decision) => (
            <ApprovalCard
              key={decision.decisionId}
              decision={decision}
              showSession
              onAnswered={(outcome) => outcome.kind === 'resolved' && answered(decision.decisionId)}
            />
          ))}
        </div>
      )}
      {recent.length > 0 && <Recent decisions={recent} />}
    </View>
  )
}

function Recent({ decisions }: { decisions: readonly DecisionView[] }) {
  return (
    <section className={styles.recent} aria-labelledby="approvals-recent">
      <h2 id="approvals-recent">{strings.approvals.settledList}</h2>
      <ul>
        {decisions.map((decision) => (
          <li key={decision.decisionId}>
            <span className={styles.what}>
              <Revealed text={decision.title} />
              <a
                href={viewHash({ kind: 'session', sessionId: decision.sessionId })}
                aria-label={strings.approvals.openSession(decision.sessionTitle)}
              >
                {decision.sessionTitle}
              </a>
            </span>
            {decision.status !== 'pending' && (
              <Settled
                status={decision.status}
                answer={decision.answer}
                by={decision.by}
                settledAt={decision.settledAt}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** `J` and `K` walk the pending cards. */
function useMoveKeys(): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const key = event.key.toLowerCase()
    if ((key !== 'j' && key !== 'k') || !isCardKey(event)) return
    // The sessions are rows of their own.
    if (document.activeElement?.closest('nav') != null) return
    const cards = pendingCards()
    const at = cards.findIndex((card) => card.contains(document.activeElement))
    const to = at < 0 ? 0 : Math.min(Math.max(at + (key === 'j' ? 1 : -1), 0), cards.length - 1)
    const card = cards[to]
    if (card === undefined) return
    event.preventDefault()
    card.focus()
    card.scrollIntoView({ block: 'nearest' })
  })
  useEffect(() => {
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

/** A link to one decision brings exactly that one into sight. */
function useWanted(decisionId: string | null, loaded: boolean): void {
  useEffect(() => {
    if (decisionId === null || !loaded) return
    const card = document.querySelector<HTMLElement>(`article[data-decision-id="${CSS.escape(decisionId)}"]`)
    card?.focus()
    card?.scrollIntoView({ block: 'center' })
  }, [decisionId, loaded])
}
