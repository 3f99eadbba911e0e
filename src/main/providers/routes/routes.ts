/**
 * Open routes, and what is remembered of a session. The database is the truth and memory its copy: memory changes only
 * after the commit, so nothing is ever routed that is not durable.
 */
import { AppError } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Clock, Log, Store, Tx } from '../../platform/types.ts'
import { createMutex } from '../mutex.ts'
import type { RouteBinding as RouterBinding } from '../router/types.ts'
import type { ClientId, RuntimeChoice } from '../types.ts'
import { notWire, toRouterBinding } from './binding.ts'
import type { BindingJson, Route } from './binding.ts'
import { withChange } from './history.ts'
import { createRouteTables } from './tables.ts'
import type { MalformedRow, SessionMarks } from './tables.ts'

export const MAX_ROUTES = 512
const DONE: PersistOutcome = { applied: true, durable: true }

export interface Routes {
  load(): { malformed: readonly MalformedRow[] }
  /** Whether the session's rows could not be read. */
  isDisabled(sessionId: string): boolean
  all(): readonly Route[]
  /** Of every row, those that could not be read among them. */
  workers(): readonly string[]
  ofSession(sessionId: string): readonly Route[]
  ofWorker(workerId: string): Route | null
  marks(sessionId: string): SessionMarks | null
  /** A frozen copy, the same object until something changes. */
  routerBinding(digest: string): RouterBinding | null
  /** The stored route behind a copy that was handed out, as it was then. */
  behind(binding: RouterBinding): Route | null
  /** @throws AppError `route_limit_reached`. */
  bind(route: Omit<Route, 'launched' | 'generation' | 'history' | 'createdAt'>, marks: MarksChange, tx: Tx): void
  /** The session runs on the agent's own login: what it writes is never seen here, so it may be opaque. */
  noteOwnLogin(marks: MarksChange, tx: Tx): void
  move(workerId: string, to: { connectionId: string; binding: BindingJson }, tx: Tx): void
  remember(marks: MarksChange, tx: Tx): void
  unbind(workerId: string): Promise<PersistOutcome>
  forget(sessionId: string, tx: Tx): void
  /** `strips`: provider state is dropped from every later request of the session, in the same commit. */
  markOpaque(digest: string, options: { strips: boolean }): Promise<PersistOutcome>
  /** Every route for which `edit` answers another binding takes it, without a new generation. */
  rewrite(edit: (route: Route) => BindingJson | null): Promise<void>
}

export interface MarksChange {
  sessionId: string
  client: ClientId
  choice: RuntimeChoice
  domain: string | null
  portability: 'keep' | 'strip'
  opaque: boolean
}

/** No new generation: it points where it did. */
function stripped(route: Route): Route {
  return notWire({ ...route, binding: notWire({ ...route.binding, historyPortability: 'strip' as const }) })
}

export function createRoutes(deps: {
  store: Store
  clock: Clock
  log: Log
  /** Its requests are cut: the route is released or has another id. */
  onReleased: (digest: string) => void
}): Routes {
  const { store, clock, log } = deps
  const tables = createRouteTables(store.db)
  const byDigest = new Map<string, Route>()
  const byWorker = new Map<string, Route>()
  const marksOf = new Map<string, SessionMarks>()
  const disabled = new Map<string, Set<string>>()
  const copies = new Map<string, RouterBinding>()
  const origins = new WeakMap<RouterBinding, Route>()
  const marking = createMutex()

  function keep(route: Route): void {
    const before = byWorker.get(route.workerId)
    if (before !== undefined && before.digest !== route.digest) drop(before)
    byWorker.set(route.workerId, route)
    byDigest.set(route.digest, route)
    copies.delete(route.digest)
  }

  function drop(route: Route): void {
    byDigest.delete(route.digest)
    byWorker.delete(route.workerId)
    copies.delete(route.digest)
    deps.onReleased(route.digest)
  }

  function keepMarks(marks: SessionMarks): void {
    marksOf.set(marks.sessionId, marks)
    for (const route of ofSession(marks.sessionId)) copies.delete(route.digest)
  }

  function ofSession(sessionId: string): readonly Route[] {
    return [...byWorker.values()].filter((route) => route.sessionId === sessionId)
  }

  function writeMarks(change: MarksChange, tx: Tx): void {
    const marks: SessionMarks = { ...change, updatedAt: clock.nowMs() }
    tables.putMarks(marks)
    store.afterCommit(tx, () => keepMarks(marks))
  }

  function writeRoute(route: Route, tx: Tx): void {
    tables.putRoute(route)
    store.afterCommit(tx, () => keep(route))
  }

  async function remove(workerId: string): Promise<PersistOutcome> {
    try {
      await store.writeTx(() => tables.deleteRoute(workerId))
      return DONE
    } catch (error) {
      log.error('a route could not be released', { workerId, error })
      return { applied: false, durable: false }
    }
  }

  return {
    load() {
      const { routes, malformed } = tables.allRoutes()
      const loadedMarks = tables.allMarks()
      for (const marks of loadedMarks.marks) marksOf.set(marks.sessionId, marks)
      for (const route of routes) keep(route)
      const broken = [...malformed, ...loadedMarks.malformed]
      for (const row of broken) {
        const workers = disabled.get(row.sessionId) ?? new Set()
        workers.add(row.workerId ?? '')
        disabled.set(row.sessionId, workers)
      }
      return { malformed: broken }
    },
    isDisabled: (sessionId) => disabled.has(sessionId),
    all: () => [...byWorker.values()],
    workers: () => [...byWorker.keys(), ...[...disabled.values()].flatMap((workers) => [...workers].filter(Boolean))],
    ofSession,
    ofWorker: (workerId) => byWorker.get(workerId) ?? null,
    marks: (sessionId) => marksOf.get(sessionId) ?? null,
    routerBinding(digest) {
      const route = byDigest.get(digest)
      if (route === undefined || disabled.has(route.sessionId)) return null
      const known = copies.get(digest)
      if (known !== undefined) return known
      const marks = marksOf.get(route.sessionId)
      const copy = toRouterBinding(route, marks?.opaque ?? true)
      copies.set(digest, copy)
      origins.set(copy, route)
      return copy
    },
    behind: (binding) => origins.get(binding) ?? null,
    bind(route, marks, tx) {
      const before = byWorker.get(route.workerId)
      if (before === undefined && tables.countRoutes() >= MAX_ROUTES) {
        throw new AppError('route_limit_reached', `${MAX_ROUTES} agents hold a route already. End some of them first.`)
      }
      const binding = notWire({ ...route.binding })
      writeMarks(marks, tx)
      writeRoute(
        notWire({
          ...route,
          binding,
          launched: before?.launched ?? binding,
          generation: before === undefined ? 1 : before.generation + 1,
          history: before === undefined ? [] : withChange(before, route, clock.nowMs()),
          createdAt: before?.createdAt ?? clock.nowMs(),
        }),
        tx,
      )
    },
    noteOwnLogin: writeMarks,
    remember: writeMarks,
    move(workerId, to, tx) {
      const before = byWorker.get(workerId)
      if (before === undefined) throw new AppError('route_binding_not_found', 'This agent has no route any more.')
      writeRoute(
        notWire({
          ...before,
          connectionId: to.connectionId,
          binding: notWire({ ...to.binding }),
          generation: before.generation + 1,
          history: withChange(before, to, clock.nowMs()),
        }),
        tx,
      )
    },
    async unbind(workerId) {
      const outcome = await remove(workerId)
      if (!outcome.applied) return outcome
      const route = byWorker.get(workerId)
      if (route !== undefined) drop(route)
      for (const [sessionId, workers] of disabled) {
        if (workers.delete(workerId) && workers.size === 0) disabled.delete(sessionId)
      }
      return outcome
    },
    forget(sessionId, tx) {
      const [open] = ofSession(sessionId)
      if (open !== undefined) {
        throw new AppError('session_still_live', 'An agent of this session may still run, so its route stays.', {
          detail: open.workerId,
        })
      }
      tables.deleteMarks(sessionId)
      store.afterCommit(tx, () => {
        marksOf.delete(sessionId)
        // A row of marks that could not be read is gone too; a route's row still needs its worker's end.
        if (disabled.get(sessionId)?.delete('') === true && disabled.get(sessionId)?.size === 0)
          disabled.delete(sessionId)
      })
    },
    markOpaque: (digest, { strips }) =>
      marking.run(async () => {
        const route = byDigest.get(digest)
        const marks = route === undefined ? undefined : marksOf.get(route.sessionId)
        if (marks === undefined) return { applied: false, durable: false }
        const cuts = strips && marks.portability === 'keep'
        if (marks.opaque && !cuts) return DONE
        try {
          await store.writeTx((tx) => {
            const now = marksOf.get(marks.sessionId) ?? marks
            writeMarks({ ...now, opaque: true, portability: cuts ? 'strip' : now.portability }, tx)
            if (cuts) for (const open of ofSession(marks.sessionId)) writeRoute(stripped(open), tx)
          })
          return DONE
        } catch (error) {
          log.error('the history mark could not be written', { sessionId: marks.sessionId, error })
          return { applied: false, durable: false }
        }
      }),
    async rewrite(edit) {
      await store.writeTx((tx) => {
        for (const route of byWorker.values()) {
          const binding = edit(route)
          if (binding !== null) writeRoute(notWire({ ...route, binding: notWire({ ...binding }) }), tx)
        }
      })
    },
  }
}
