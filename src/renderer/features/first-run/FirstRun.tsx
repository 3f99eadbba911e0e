import { useEffect, useRef, useState } from 'react'
import { strings } from '../../strings/index.ts'
import { AgentStep } from './AgentStep.tsx'
import { FolderStep } from './FolderStep.tsx'
import { ProviderStep } from './ProviderStep.tsx'
import { useFirstRun } from './useFirstRun.ts'
import styles from './first-run.module.css'

const STEPS = ['agent', 'provider', 'folder'] as const
const TITLES = {
  agent: strings.firstRun.agentsTitle,
  provider: strings.firstRun.providerTitle,
  folder: strings.firstRun.folderTitle,
} as const

/** Three steps, each of which can be skipped. */
export function FirstRun() {
  const [at, setAt] = useState(0)
  const state = useFirstRun()
  const titleRef = useRef<HTMLHeadingElement>(null)
  const moved = useRef(false)
  const step = STEPS[at] ?? 'agent'
  const next = (): void => go(at + 1)
  const back = (): void => go(at - 1)

  function go(to: number): void {
    moved.current = true
    setAt(Math.min(Math.max(to, 0), STEPS.length - 1))
  }
  // The buttons of the step before are gone: its successor's title takes the focus.
  useEffect(() => {
    if (moved.current) titleRef.current?.focus()
  }, [at])

  return (
    <div className={styles.view}>
      <header className={styles.head}>
        <h1>{strings.firstRun.heading}</h1>
        <p>{strings.firstRun.intro}</p>
      </header>
      <ol className={styles.progress} aria-hidden="true">
        {STEPS.map((each, index) => (
          <li key={each} data-state={index < at ? 'done' : index === at ? 'current' : 'ahead'}>
            {TITLES[each]}
          </li>
        ))}
      </ol>
      <section className={styles.step} aria-labelledby="first-run-step">
        <p className={styles.small}>{strings.firstRun.step(at + 1, STEPS.length)}</p>
        <h2 id="first-run-step" ref={titleRef} tabIndex={-1}>
          {TITLES[step]}
        </h2>
        {step === 'agent' && <AgentStep state={state} onNext={next} />}
        {step === 'provider' && <ProviderStep state={state} onNext={next} onBack={back} />}
        {step === 'folder' && <FolderStep state={state} onBack={back} />}
      </section>
    </div>
  )
}
