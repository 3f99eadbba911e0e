/** What the bridge is made of: handlers, topic sources, and who is calling. */
import type {
  ParsedInput,
  ProcedureName,
  ProcedureOutput,
  TopicEvent,
  TopicFilter,
  TopicName,
} from '../../shared/bridge/index.ts'
import type { Actor } from '../../shared/vocabulary.ts'

/**
 * A connection as the systems see it. `shows` and `focused` are what its window last said; `notification` and `tray` are the
 * desktop's own, inside the host's process.
 */
export interface ConnectionInfo {
  generation: string
  kind: 'window' | 'browser' | 'notification' | 'tray' | 'cli' | 'acp'
  shows: string | null
  focused: boolean
}

export interface CallContext {
  /** Aborts at the procedure's deadline, on the caller's cancel, and when the connection goes. */
  signal: AbortSignal
  connection: ConnectionInfo
  actor: Actor
}

export type Handler<N extends ProcedureName> = (
  input: ParsedInput<N>,
  context: CallContext,
) => Promise<ProcedureOutput<N>> | ProcedureOutput<N>
export type Handlers = { [N in ProcedureName]: Handler<N> }
/** The handlers of one group, such as all of `runs.*`. */
export type HandlersOf<P extends Partial<Record<ProcedureName, unknown>>> = Pick<
  Handlers,
  Extract<keyof P, ProcedureName>
>

/**
 * Opens one topic for one subscriber. The transport pulls: a source never buffers without bound, and ends when `signal`
 * aborts. `after`: the last sequence that a resuming subscriber holds.
 */
export type TopicSource<N extends TopicName> = (
  filter: TopicFilter<N>,
  context: { after: number | undefined; signal: AbortSignal; connection: ConnectionInfo },
) => AsyncIterable<TopicEvent<N>>
export type TopicSources = { [N in TopicName]: TopicSource<N> }
