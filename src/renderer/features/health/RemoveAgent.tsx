import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { AgentView } from '../../../shared/bridge/index.ts'
import { useChange } from '../../bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, ConfirmDialog, ErrorNote } from '../../ui/index.ts'

/** Takes away an agent that a person added. */
export function RemoveAgent({ agent }: { agent: AgentView }) {
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const remove = useChange('agents.remove')
  const { ownAgents } = strings
  return (
    <>
      <Button aria-label={ownAgents.removeNamed(agent.label)} onClick={() => setAsking(true)}>
        {ownAgents.remove}
      </Button>
      <ConfirmDialog
        open={asking}
        title={ownAgents.removeTitle(agent.label)}
        description={ownAgents.removeText}
        confirm={ownAgents.remove}
        cancel={ownAgents.cancel}
        pending={remove.isPending}
        onConfirm={() =>
          remove.mutate(
            { agentId: agent.id },
            {
              onSuccess: () => setAsking(false),
              onSettled: () => void queries.invalidateQueries({ queryKey: ['agents.list'] }),
            },
          )
        }
        onClose={() => setAsking(false)}
      >
        {remove.error !== null && <ErrorNote error={remove.error} />}
      </ConfirmDialog>
    </>
  )
}
