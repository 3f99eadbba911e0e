import { useRef, useState } from 'react'
import type { GatewayClient, ProjectionKind, TakeoverPlan } from '../../../shared/bridge/index.ts'
import { useCall, useChange } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { viewHash } from '../../stores/navigation.ts'
import { strings } from '../../strings/index.ts'
import { PathText, Revealed } from '../../text/index.ts'
import { Button, Dialog, ErrorNote, PassingButton, Select, Switch } from '../../ui/index.ts'
import { Warnings } from './Warnings.tsx'
import styles from './gateway.module.css'

/** What the person chose; nothing: as it is, or what fits this machine. */
interface Wanted {
  kind?: ProjectionKind
  keepLogin?: boolean
}

const CODEX_KINDS: readonly ProjectionKind[] = ['base_url', 'provider_table']

/** The exact change, before it is written; what is written is what was shown, or nothing. */
export function EnableDialog({
  client,
  upstream,
  onClose,
}: {
  client: GatewayClient
  upstream: string | null
  onClose: () => void
}) {
  const [wanted, setWanted] = useState<Wanted>({})
  const { plan, error, again } = usePlan(client, wanted)
  const enable = useChange('gateway.enable')
  const leave = useRef<HTMLButtonElement>(null)
  const { gateway } = strings
  return (
    <Dialog
      open
      size="wide"
      title={gateway.enableTitle(client)}
      description={gateway.enableText}
      onClose={onClose}
      actions={
        <>
          <Button ref={leave} onClick={onClose}>
            {gateway.cancel}
          </Button>
          {error !== null && (
            <PassingButton heir={leave} onClick={again}>
              {gateway.reload}
            </PassingButton>
          )}
          <Button
            tone="primary"
            disabled={plan === null}
            pending={enable.isPending}
            onClick={() =>
              plan !== null &&
              enable.mutate(
                { client, kind: plan.kind, keepLogin: plan.keepLogin, digest: plan.digest },
                { onSuccess: onClose, onError: again },
              )
            }
          >
            {gateway.enable}
          </Button>
        </>
      }
    >
      {plan === null && error === null && <p className={styles.small}>{gateway.loading}</p>}
      {plan !== null && client === 'codex' && (
        <Select
          label={gateway.how}
          value={plan.kind}
          items={CODEX_KINDS.map((value) => ({ value, label: gateway.kind(value) }))}
          onChange={(kind) => setWanted({ ...wanted, kind })}
        />
      )}
      {plan?.kind === 'provider_table' && (
        <Switch
          label={gateway.keepLogin}
          description={gateway.keepLoginText}
          checked={plan.keepLogin}
          onChange={(keepLogin) => setWanted({ kind: plan.kind, keepLogin })}
        />
      )}
      {plan !== null && <PlanText plan={plan} />}
      {plan !== null && plan.warnings.length > 0 && <Warnings warnings={plan.warnings} />}
      {upstream === null && <Unserved client={client} />}
      {error !== null && <ErrorNote error={error} />}
      {enable.error !== null && <ErrorNote error={enable.error} />}
    </Dialog>
  )
}

/** Without a Provider picked here the agent's default becomes it; without one, every request is refused. */
function Unserved({ client }: { client: GatewayClient }) {
  const catalog = useTopic('providers', (state) => state.value)
  const { gateway } = strings
  const first = catalog?.connections.find(({ id }) => id === catalog.defaults[client]?.connectionId)
  if (first !== undefined) return <p className={styles.small}>{gateway.wouldGoTo(client, first.name)}</p>
  const none = catalog?.connections.every((connection) => connection.client !== client) === true
  return (
    <p className={styles.detail} role="note">
      {none ? gateway.wouldRefuse(client) : gateway.wouldRefuseUnpicked(client)}{' '}
      {none && <a href={viewHash({ kind: 'providers' })}>{gateway.addProvider}</a>}
    </p>
  )
}

/** Read anew each time: a file of somebody else may change at any moment. */
function usePlan(client: GatewayClient, wanted: Wanted) {
  const { data, error, isFetching, refetch } = useCall('gateway.plan', { client, ...wanted }, { fresh: true })
  const again = (): void => void refetch()
  return { plan: isFetching || error !== null ? null : (data ?? null), error: isFetching ? null : error, again }
}

function PlanText({ plan }: { plan: TakeoverPlan }) {
  const { gateway } = strings
  return (
    <figure className={styles.plan} aria-label={gateway.change(plan.path)}>
      <figcaption>
        <PathText path={plan.path} /> {plan.creates && <span className={styles.small}>{gateway.creates}</span>}
      </figcaption>
      {plan.hunks.map((hunk) => (
        <div key={hunk.line} className={styles.hunk}>
          <p className={styles.small}>{gateway.line(hunk.line)}</p>
          <Lines lines={hunk.before} kind="del" />
          <Lines lines={hunk.after} kind="add" />
        </div>
      ))}
    </figure>
  )
}

function Lines({ lines, kind }: { lines: readonly string[]; kind: 'add' | 'del' }) {
  const { gateway } = strings
  return lines.map((line, index) => (
    // oxlint-disable-next-line react/no-array-index-key -- lines of one immutable plan have no other identity
    <p key={index} className={styles.line} data-kind={kind}>
      <span className={styles.said}>{kind === 'add' ? gateway.added : gateway.removed}</span>
      <span aria-hidden="true">{kind === 'add' ? '+' : '−'}</span> <Revealed text={line} />
    </p>
  ))
}
