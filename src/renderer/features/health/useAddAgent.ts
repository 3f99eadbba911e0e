import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProcedureOutput } from '../../../shared/bridge/index.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useChange } from '../../bridge/index.ts'

export interface AddAgentForm {
  label: string
  commandLine: string
  passEnv: string
}

export interface AddAgentState {
  values: AddAgentForm
  change: (field: keyof AddAgentForm, value: string) => void
  pending: boolean
  /** What the last check found, as long as the form is as it was checked. */
  found: ProcedureOutput<'agents.add'> | null
  error: AppError | null
  submit: (evenSo: boolean) => void
  /** Checks and adds a known agent as it is. */
  take: (agent: Pick<AddAgentForm, 'label' | 'commandLine'>) => void
}

const EMPTY: AddAgentForm = { label: '', commandLine: '', passEnv: '' }

/** The form of an agent's command; the host checks it before it is added. */
export function useAddAgent(): AddAgentState {
  const queries = useQueryClient()
  const [values, setValues] = useState(EMPTY)
  const add = useChange('agents.add')
  const send = ({ label, commandLine, passEnv }: AddAgentForm, evenSo: boolean): void => {
    if (add.isPending) return
    const names = passEnv.split(/[\s,]+/).filter((name) => name !== '')
    add.mutate(
      { label, commandLine, passEnv: names, evenSo },
      { onSettled: () => void queries.invalidateQueries({ queryKey: ['agents.list'] }) },
    )
  }
  return {
    values,
    change(field, value) {
      setValues((before) => ({ ...before, [field]: value }))
      add.reset()
    },
    pending: add.isPending,
    found: add.data ?? null,
    error: add.error,
    submit: (evenSo) => send(values, evenSo),
    take(agent) {
      const whole = { ...EMPTY, ...agent }
      setValues(whole)
      send(whole, false)
    },
  }
}
