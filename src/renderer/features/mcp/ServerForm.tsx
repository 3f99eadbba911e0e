import { useRef, useState } from 'react'
import type { McpServerInput, McpServerView } from '../../../shared/bridge/index.ts'
import { useAsking } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote, Switch, TextField } from '../../ui/index.ts'
import { commandLineOf, inputOf, rowsOf } from './form.ts'
import styles from './mcp.module.css'
import { Variables } from './Variables.tsx'

export interface ServerFormProps {
  /** Null: a new one. */
  server: McpServerView | null
  onDone: () => void
}

/** Adds or changes one server. What it was tested with is what would be saved. */
export function ServerForm({ server, onDone }: ServerFormProps) {
  const { mcp } = strings
  const form = useRef<HTMLFormElement>(null)
  const [rows, setRows] = useState(() => rowsOf(server))
  const [required, setRequired] = useState(server?.required ?? false)
  const [enabled, setEnabled] = useState(server?.enabled ?? true)
  const [badCommand, setBadCommand] = useState(false)
  const save = useAsking('mcp.upsert')
  const test = useAsking('mcp.test')

  const read = (): McpServerInput | null => {
    if (form.current === null || !form.current.reportValidity()) return null
    const input = inputOf(form.current, rows, { server, required, enabled })
    setBadCommand(input === null)
    return input
  }
  const submit = (): void => {
    const input = read()
    if (input === null || save.pending) return
    void save.ask({ server: input, expectedRev: server?.rev ?? 0 }).then((saved) => saved !== null && onDone())
  }
  const runTest = (): void => {
    const input = read()
    if (input !== null) void test.ask({ server: input })
  }

  return (
    <form
      ref={form}
      className={styles.form}
      aria-label={server === null ? mcp.addTitle : mcp.editTitle(server.name)}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <TextField label={mcp.name} name="name" description={mcp.nameHint} required defaultValue={server?.name ?? ''} />
      <TextField
        label={mcp.command}
        name="command"
        description={mcp.commandHint}
        mono
        required
        defaultValue={commandLineOf(server)}
        error={badCommand ? mcp.badCommand : null}
        onChange={() => setBadCommand(false)}
      />
      <TextField
        label={mcp.project}
        name="project"
        description={mcp.projectHint}
        mono
        defaultValue={server?.scope.kind === 'project' ? server.scope.path : ''}
      />
      <Variables rows={rows} onChange={setRows} />
      <Switch label={mcp.required} description={mcp.requiredHint} checked={required} onChange={setRequired} />
      <Switch label={mcp.enabled} checked={enabled} onChange={setEnabled} />
      <div role="status">
        {test.output !== null && (
          <p className={styles.result} data-ok={test.output.ok ? '' : undefined}>
            {test.output.ok
              ? mcp.works(test.output.tools)
              : [test.output.message, test.output.hint].filter(Boolean).join(' ')}
          </p>
        )}
      </div>
      {test.error !== null && <ErrorNote error={test.error} onRetry={runTest} />}
      {save.error !== null && <ErrorNote error={save.error} onRetry={submit} />}
      <div className={styles.actions}>
        <Button onClick={onDone}>{mcp.back}</Button>
        <Button pending={test.pending} onClick={runTest}>
          {mcp.test}
        </Button>
        <Button type="submit" tone="primary" pending={save.pending}>
          {mcp.save}
        </Button>
      </div>
    </form>
  )
}
