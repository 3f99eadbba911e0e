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
}

const EMPTY: AddAgentForm = { label: '', commandLine: '', passEnv: '' }

/** The form of an agent's command; the host checks it before it is added. */
export function useAddAgent(): AddAgentState {
  const queries = useQueryClient()
  const [values, setValues] = useState(EMPTY)
  const add = useChange('agents.add')
  return {
    values,
    change(field, value) {
      setValues((before) => ({ ...before, [field]: value }))
      add.reset()
    },
    pending: add.isPending,
    found: add.data ?? null,
    error: add.error,
    submit(evenSo) {
      if (add.isPending) return
      add.mutate(
        {
          label: values.label,
          commandLine: values.commandLine,
          passEnv: values.passEnv.split(/[\s,]+/).filter((name) => name !== ''),
          evenSo,
        },
        { onSettled: () => void queries.invalidateQueries({ queryKey: ['agents.list'] }) },
      )
    },
  }
}
