import { strings } from '../../strings/index.ts'
import { Button, IconButton, Switch, TextField } from '../../ui/index.ts'
import type { VariableRow } from './form.ts'
import styles from './mcp.module.css'

export interface VariablesProps {
  rows: readonly VariableRow[]
  onChange: (rows: VariableRow[]) => void
}

/** The environment of a server, a variable a line. */
export function Variables({ rows, onChange }: VariablesProps) {
  const { mcp } = strings
  const add = (): void => {
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1
    onChange([...rows, { key, name: '', secret: false, shown: '', kept: false }])
  }
  return (
    <fieldset className={styles.variables}>
      <legend>{mcp.variables}</legend>
      {rows.map((row, index) => (
        <div key={row.key} className={styles.variable}>
          <TextField
            label={mcp.variable(index + 1)}
            labelHidden
            mono
            name={`name-${row.key}`}
            placeholder="NAME"
            defaultValue={row.name}
          />
          <TextField
            label={mcp.value(index + 1)}
            labelHidden
            mono
            name={`value-${row.key}`}
            type={row.secret ? 'password' : 'text'}
            placeholder={row.secret && row.kept ? mcp.kept : ''}
            defaultValue={row.shown}
          />
          <Switch
            label={mcp.secret(index + 1)}
            checked={row.secret}
            onChange={(secret) => onChange(rows.map((each) => (each === row ? { ...each, secret } : each)))}
          />
          <IconButton
            label={mcp.removeVariable(index + 1)}
            onClick={() => onChange(rows.filter((each) => each !== row))}
          >
            ×
          </IconButton>
        </div>
      ))}
      <span>
        <Button tone="quiet" onClick={add}>
          {mcp.addVariable}
        </Button>
      </span>
    </fieldset>
  )
}
