import { useState } from 'react'
import { strings } from '../../strings/index.ts'
import { Button } from '../../ui/index.ts'
import { AddAgentDialog } from './AddAgentDialog.tsx'

export function AddAgentButton() {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>{strings.ownAgents.add}</Button>
      {open && <AddAgentDialog onClose={() => setOpen(false)} />}
    </>
  )
}
