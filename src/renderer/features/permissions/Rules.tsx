import { useEffect, useRef, useState } from 'react'
import type { RuleView } from '../../../shared/bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import { Rows, TextField } from '../../ui/index.ts'
import { RuleRow } from './RuleRow.tsx'
import { WithdrawDialog } from './WithdrawDialog.tsx'
import styles from './permissions.module.css'

/** Fewer than this are found by looking. */
const SEARCHED_FROM = 8

/** Every rule that a person left, newest first. `wanted` is brought into sight. */
export function Rules({ wanted }: { wanted: string | null }) {
  const loaded = useTopic('rules', (state) => state.loaded)
  const rules = useTopic('rules', (state) => state.value)
  const [search, setSearch] = useState('')
  const [asking, setAsking] = useState<RuleView | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const { permissions } = strings
  const shown = rules.filter((rule) => fits(rule, search))
  const gone = wanted !== null && loaded && !rules.some(({ id }) => id === wanted)

  useEffect(() => {
    if (wanted === null || !loaded) return
    const row = list.current?.querySelector<HTMLElement>(`[data-rule="${CSS.escape(wanted)}"]`)
    row?.focus()
    row?.scrollIntoView({ block: 'center' })
  }, [wanted, loaded])

  return (
    <section className={styles.section} aria-labelledby="permissions-rules">
      <header className={styles.sectionHead}>
        <div>
          <h2 id="permissions-rules" ref={heading} tabIndex={-1}>
            {permissions.rules}
          </h2>
          <p className={styles.small}>{permissions.rulesText}</p>
        </div>
        {rules.length >= SEARCHED_FROM && (
          <TextField
            label={permissions.find}
            labelHidden
            type="search"
            placeholder={permissions.find}
            value={search}
            onChange={setSearch}
          />
        )}
      </header>
      {gone && (
        <p className={styles.note} role="status">
          {permissions.ruleGone}
        </p>
      )}
      {loaded && shown.length === 0 && (
        <p className={styles.empty}>{rules.length === 0 ? permissions.noRules : permissions.noneFits}</p>
      )}
      {shown.length > 0 && (
        <Rows ref={list} aria-label={permissions.rules}>
          {shown.map((rule) => (
            <RuleRow key={rule.id} rule={rule} wanted={rule.id === wanted} onWithdraw={() => setAsking(rule)} />
          ))}
        </Rows>
      )}
      {asking !== null && (
        <WithdrawDialog
          rule={asking}
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

function fits({ pattern, sessionTitle, projectDir }: RuleView, search: string): boolean {
  const text = `${pattern} ${sessionTitle ?? ''} ${projectDir ?? ''}`.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
