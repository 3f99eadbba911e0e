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
  const [{ at, moved }, setAt] = useState({ at: 0, moved: false })
  const state = useFirstRun()
  const step = STEPS[at] ?? 'agent'
  const go = (to: number): void => setAt({ at: Math.min(Math.max(to, 0), STEPS.length - 1), moved: true })
  const next = (): void => go(at + 1)
  const back = (): void => go(at - 1)

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
        <StepTitle key={step} title={TITLES[step]} takesFocus={moved} />
        {step === 'agent' && <AgentStep state={state} onNext={next} />}
        {step === 'provider' && <ProviderStep state={state} onNext={next} onBack={back} />}
        {step === 'folder' && <FolderStep state={state} onBack={back} />}
      </section>
    </div>
  )
}

/** The buttons of the step before are gone: the title of its successor takes the focus. */
function StepTitle({ title, takesFocus }: { title: string; takesFocus: boolean }) {
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takesFocus) ref.current?.focus()
  }, [takesFocus])
  return (
    <h2 id="first-run-step" ref={ref} tabIndex={-1}>
      {title}
    </h2>
  )
}
