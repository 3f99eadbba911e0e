/** The tables `routes` and `session_marks`. Nothing else touches them. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { ClientId, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { BindingJson, notWire } from './binding.ts'
import type { Route } from './binding.ts'
import { History } from './history.ts'

const RouteRow = z.strictObject({
  worker_id: z.string(),
  session_id: z.string(),
  digest: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  connection_id: z.string(),
  generation: z.int().positive(),
  port: z.int().min(1).max(65_535),
  binding: z.string(),
  launched: z.string(),
  history: z.string(),
  created_at: z.int(),
})

const MarkRow = z.strictObject({
  session_id: z.string(),
  client: ClientId,
  choice: z.string(),
  domain: z.string().nullable(),
  opaque: z.union([z.literal(0), z.literal(1)]),
  portability: z.enum(['keep', 'strip']),
  updated_at: z.int(),
})

export interface SessionMarks {
  readonly sessionId: string
  readonly client: ClientId
  readonly choice: RuntimeChoice
  /** The domain of the last binding; null: never bound. */
  readonly domain: string | null
  /** Items that only `domain` can read may stand in the history. */
  readonly opaque: boolean
  readonly portability: 'keep' | 'strip'
  readonly updatedAt: number
}

/** A row that breaks the types: it disables its session alone. */
export interface MalformedRow {
  readonly workerId: string | null
  readonly sessionId: string
}

export interface RouteTables {
  allRoutes(): { routes: readonly Route[]; malformed: readonly MalformedRow[] }
  allMarks(): { marks: readonly SessionMarks[]; malformed: readonly MalformedRow[] }
  countRoutes(): number
  putRoute(route: Route): void
  deleteRoute(workerId: string): void
  putMarks(marks: SessionMarks): void
  deleteMarks(sessionId: string): void
}

export function createRouteTables(db: Database): RouteTables {
  const allRoutes = db.prepare('SELECT * FROM routes ORDER BY created_at, worker_id')
  const allMarks = db.prepare('SELECT * FROM session_marks')
  const count = db.prepare('SELECT count(*) FROM routes').pluck()
  const putRoute = db.prepare(`INSERT OR REPLACE INTO routes
    (worker_id, session_id, digest, connection_id, generation, port, binding, launched, history, created_at)
    VALUES (@workerId, @sessionId, @digest, @connectionId, @generation, @port, @binding, @launched, @history, @createdAt)`)
  const deleteRoute = db.prepare('DELETE FROM routes WHERE worker_id = ?')
  const putMarks = db.prepare(`INSERT OR REPLACE INTO session_marks
    (session_id, client, choice, domain, opaque, portability, updated_at)
    VALUES (@sessionId, @client, @choice, @domain, @opaque, @portability, @updatedAt)`)
  const deleteMarks = db.prepare('DELETE FROM session_marks WHERE session_id = ?')

  return {
    allRoutes() {
      const routes: Route[] = []
      const malformed: MalformedRow[] = []
      for (const row of allRoutes.all()) {
        const route = toRoute(row)
        if (route === null) malformed.push(nameOf(row))
        else routes.push(route)
      }
      return { routes, malformed }
    },
    allMarks() {
      const marks: SessionMarks[] = []
      const malformed: MalformedRow[] = []
      for (const row of allMarks.all()) {
        const mark = toMarks(row)
        if (mark === null) malformed.push(nameOf(row))
        else marks.push(mark)
      }
      return { marks, malformed }
    },
    countRoutes: () => z.number().parse(count.get()),
    putRoute: (route) =>
      void putRoute.run({
        workerId: route.workerId,
        sessionId: route.sessionId,
        digest: route.digest,
        connectionId: route.connectionId,
        generation: route.generation,
        port: route.port,
        binding: bindingText(route.binding),
        launched: bindingText(route.launched),
        history: JSON.stringify(route.history),
        createdAt: route.createdAt,
      }),
    deleteRoute: (workerId) => void deleteRoute.run(workerId),
    putMarks: (marks) =>
      void putMarks.run({
        sessionId: marks.sessionId,
        client: marks.client,
        choice: JSON.stringify(marks.choice),
        domain: marks.domain,
        opaque: marks.opaque ? 1 : 0,
        portability: marks.portability,
        updatedAt: marks.updatedAt,
      }),
    deleteMarks: (sessionId) => void deleteMarks.run(sessionId),
  }
}

function toRoute(row: unknown): Route | null {
  const parsed = RouteRow.safeParse(row)
  if (!parsed.success) return null
  const binding = readBinding(parsed.data.binding)
  const launched = readBinding(parsed.data.launched)
  const history = History.safeParse(readJson(parsed.data.history))
  if (binding === null || launched === null || !history.success) return null
  return notWire({
    workerId: parsed.data.worker_id,
    sessionId: parsed.data.session_id,
    digest: parsed.data.digest,
    connectionId: parsed.data.connection_id,
    generation: parsed.data.generation,
    port: parsed.data.port,
    binding,
    launched,
    history: history.data,
    createdAt: parsed.data.created_at,
  })
}

function toMarks(row: unknown): SessionMarks | null {
  const parsed = MarkRow.safeParse(row)
  if (!parsed.success) return null
  const choice = RuntimeChoice.safeParse(readJson(parsed.data.choice))
  if (!choice.success) return null
  return {
    sessionId: parsed.data.session_id,
    client: parsed.data.client,
    choice: choice.data,
    domain: parsed.data.domain,
    opaque: parsed.data.opaque === 1,
    portability: parsed.data.portability,
    updatedAt: parsed.data.updated_at,
  }
}

function readBinding(text: string): BindingJson | null {
  const parsed = BindingJson.safeParse(readJson(text))
  return parsed.success ? notWire(parsed.data) : null
}

/** The codec names each field that it writes. */
function bindingText(binding: Readonly<BindingJson>): string {
  return JSON.stringify(
    Object.fromEntries(Object.keys(BindingJson.shape).map((key) => [key, Reflect.get(binding, key)])),
  )
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function nameOf(row: unknown): MalformedRow {
  const named = z.object({ worker_id: z.string().optional(), session_id: z.string() }).safeParse(row)
  return { workerId: named.data?.worker_id ?? null, sessionId: named.data?.session_id ?? '' }
}
