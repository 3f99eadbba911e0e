import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'
import { FolderPicker } from '../folders/index.ts'
import { TrustQuestion } from '../trust/index.ts'
import { AgentField } from './AgentField.tsx'
import { ConfinementField } from './ConfinementField.tsx'
import { ModeField } from './ModeField.tsx'
import { ModelField } from './ModelField.tsx'
import { useNewSession } from './useNewSession.ts'
import { useSettled } from './useSettled.ts'
import styles from './NewSession.module.css'

/** Who works, where, with which model and how freely; and, if wanted, the first thing to do. */
export function NewSession() {
  const form = useNewSession()
  const folder = useSettled(form.folder)
  const [prompt, setPrompt] = useState('')
  return (
    <form
      className={styles.form}
      aria-label={strings.newSession.title}
      onSubmit={(event) => {
        event.preventDefault()
        form.start(prompt)
      }}
    >
      <h1 className={styles.heading}>{strings.newSession.title}</h1>
      <AgentField agents={form.agents} value={form.agentId} onChange={form.setAgent} />
      <FolderPicker
        label={strings.newSession.folder}
        value={form.folder}
        error={form.folderError}
        onChange={form.setFolder}
      />
      <TrustQuestion agentId={form.agentId} folder={folder} />
      <div className={styles.row}>
        <ModelField agentId={form.agentId} value={form.choice} onChange={form.setChoice} />
        <ModeField value={form.mode} onChange={form.setMode} />
        <ConfinementField value={form.sandbox} whyNot={form.whyNotConfined} onChange={form.setSandbox} />
      </div>
      <label className={styles.field}>
        <span className={styles.label}>{strings.newSession.prompt}</span>
        <textarea
          className={styles.prompt}
          rows={4}
          maxLength={262_144}
          placeholder={strings.newSession.promptHint}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            form.start(prompt)
          }}
        />
      </label>
      {form.error !== null && <ErrorNote error={form.error} onRetry={() => form.start(prompt)} />}
      <div className={styles.actions}>
        <Button type="submit" tone="primary" pending={form.pending}>
          {strings.newSession.start}
        </Button>
        {form.error?.code === 'work_dir_missing' && (
          <Button pending={form.pending} onClick={() => form.start(prompt, { makeFolder: true })}>
            {strings.newSession.createIt}
          </Button>
        )}
      </div>
    </form>
  )
}
