import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { McpServerView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, Dialog } from '../../ui/index.ts'
import { ServerForm } from './ServerForm.tsx'
import { ServerList } from './ServerList.tsx'

type Shown = { kind: 'list' } | { kind: 'form'; server: McpServerView | null }

/** The button that opens the MCP servers, and the dialog in which they are listed, changed and tested. */
export function McpServers() {
  const queries = useQueryClient()
  const [shown, setShown] = useState<Shown | null>(null)
  const { mcp } = strings
  const close = (): void => setShown(null)
  return (
    <>
      <Button aria-label={`${mcp.manage} ${mcp.heading}`} onClick={() => setShown({ kind: 'list' })}>
        {mcp.manage}
      </Button>
      {shown !== null && (
        <Dialog
          open
          size="wide"
          title={
            shown.kind === 'list'
              ? mcp.heading
              : shown.server === null
                ? mcp.addTitle
                : mcp.editTitle(shown.server.name)
          }
          {...(shown.kind === 'list'
            ? { description: mcp.about, actions: <Button onClick={close}>{mcp.close}</Button> }
            : {})}
          onClose={close}
        >
          {shown.kind === 'list' ? (
            <ServerList onEdit={(server) => setShown({ kind: 'form', server })} />
          ) : (
            <ServerForm
              server={shown.server}
              onDone={() => {
                void queries.invalidateQueries({ queryKey: ['mcp.list'] })
                setShown({ kind: 'list' })
              }}
            />
          )}
        </Dialog>
      )}
    </>
  )
}
