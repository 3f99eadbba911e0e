import { useEffect, useState } from 'react'
import type { SessionView } from '../../shared/bridge/index.ts'
import { titleOf } from '../features/sessions/index.ts'
import { strings } from '../strings/index.ts'
import { useStores } from '../stores/app-stores.tsx'
import styles from './LiveRegions.module.css'

/** One polite region tells how runs ended, one assertive tells new approvals alone. */
export function LiveRegions() {
  const { sessions, decisions } = useStores()
  const [ended, setEnded] = useState('')
  const [asked, setAsked] = useState('')

  useEffect(
    () =>
      sessions.subscribe((state, before) => {
        if (!before.loaded) return
        for (const session of state.value.values()) {
          const old = before.value.get(session.id)
          if (old !== undefined && session.lastRun !== null && old.lastRun?.runId !== session.lastRun.runId) {
            setEnded(sentence(session))
          }
        }
      }),
    [sessions],
  )
  useEffect(
    () =>
      decisions.subscribe((state, before) => {
        if (!before.loaded) return
        const known = new Set(before.value.pending.map((decision) => decision.decisionId))
        const fresh = state.value.pending.find(({ decisionId }) => !known.has(decisionId))
        if (fresh !== undefined) setAsked(strings.app.said.approval(fresh.sessionTitle, fresh.title))
      }),
    [decisions],
  )
  return (
    <>
      <div className={styles.region} role="status" aria-live="polite">
        {ended}
      </div>
      <div className={styles.region} aria-live="assertive">
        {asked}
      </div>
    </>
  )
}

function sentence(session: SessionView): string {
  const { said } = strings.app
  const state = session.lastRun?.state
  if (state === 'completed') return said.completed(titleOf(session))
  if (state === 'failed') return said.failed(titleOf(session))
  return said.ended(titleOf(session), state === undefined ? '' : strings.session.runStates[state].toLowerCase())
}
