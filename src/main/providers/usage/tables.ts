/** The tables `model_requests` and `model_request_days`. Tokens only; never a word of what was said. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import type { Exchange } from '../router/types.ts'
import type { UsageBy, UsageRow } from './types.ts'

/** Older requests are kept as totals of their day. */
export const KEPT_MS = 90 * 86_400_000

const Totals = z.strictObject({
  key: z.string().nullable(),
  requests: z.int(),
  failed: z.int(),
  input: z.int().nullable(),
  cacheRead: z.int().nullable(),
  cacheWrite: z.int().nullable(),
  output: z.int().nullable(),
  reasoning: z.int().nullable(),
  firstByteMs: z.number().nullable(),
  totalMs: z.number().nullable(),
})

/** The same columns in both tables, so that a sum over both is one sum. */
const KEYS: Readonly<Record<UsageBy, string>> = {
  day: 'day',
  session: 'session_id',
  connection: 'connection_id',
  model: 'model',
}

export interface UsageTables {
  /** A response that is there already is not counted again. */
  add(exchange: Exchange): void
  /** Puts what is older into the totals of its days. */
  roll(olderThanMs: number): void
  totals(by: UsageBy, sinceMs: number): readonly UsageRow[]
}

export function createUsageTables(db: Database): UsageTables {
  const insert = db.prepare(`INSERT OR IGNORE INTO model_requests
    (at, session_id, connection_id, client, model_asked, model_sent, model_reported, input, cache_read, cache_write, output,
     reasoning, status, first_byte_ms, total_ms, terminal, failover_index, response_id)
    VALUES (@at, @sessionId, @connectionId, @client, @modelAsked, @modelSent, @modelReported, @input, @cacheRead,
     @cacheWrite, @output, @reasoning, @status, @firstByteMs, @totalMs, @terminal, @failoverIndex, @responseId)`)
  const roll = db.prepare(`INSERT INTO model_request_days
    (day, session_id, connection_id, client, model, requests, failed, input, cache_read, cache_write, output, reasoning,
     first_bytes, first_byte_ms, totals, total_ms)
    SELECT ${DAY} AS day, session_id, connection_id, client, ${MODEL}, count(*), sum(${FAILED}), sum(input), sum(cache_read),
      sum(cache_write), sum(output), sum(reasoning), count(first_byte_ms), total(first_byte_ms), count(*), total(total_ms)
    FROM model_requests WHERE at < ? GROUP BY day, session_id, connection_id, client, ${MODEL}
    ON CONFLICT (day, session_id, connection_id, client, model) DO UPDATE SET
      requests = requests + excluded.requests, failed = failed + excluded.failed,
      input = ${ADDED('input')}, cache_read = ${ADDED('cache_read')}, cache_write = ${ADDED('cache_write')},
      output = ${ADDED('output')}, reasoning = ${ADDED('reasoning')},
      first_bytes = first_bytes + excluded.first_bytes, first_byte_ms = first_byte_ms + excluded.first_byte_ms,
      totals = totals + excluded.totals, total_ms = total_ms + excluded.total_ms`)
  const drop = db.prepare('DELETE FROM model_requests WHERE at < ?')
  const totals = (by: UsageBy) =>
    db.prepare(`SELECT ${KEYS[by]} AS key, sum(requests) AS requests, sum(failed) AS failed, sum(input) AS input,
        sum(cache_read) AS cacheRead, sum(cache_write) AS cacheWrite, sum(output) AS output, sum(reasoning) AS reasoning,
        sum(first_byte_ms) / nullif(sum(first_bytes), 0) AS firstByteMs, sum(total_ms) / nullif(sum(totals), 0) AS totalMs
      FROM (
        SELECT ${DAY} AS day, session_id, connection_id, ${MODEL} AS model, 1 AS requests, ${FAILED} AS failed, input,
          cache_read, cache_write, output, reasoning, first_byte_ms IS NOT NULL AS first_bytes, first_byte_ms, 1 AS totals,
          total_ms FROM model_requests WHERE at >= @since
        UNION ALL
        SELECT day, session_id, connection_id, model, requests, failed, input, cache_read, cache_write, output, reasoning,
          first_bytes, first_byte_ms, totals, total_ms FROM model_request_days WHERE day >= date(@since / 1000, 'unixepoch', 'localtime')
      ) GROUP BY key ORDER BY ${by === 'day' ? 'key' : 'requests DESC, key'} LIMIT 1000`)
  const prepared = {
    day: totals('day'),
    session: totals('session'),
    connection: totals('connection'),
    model: totals('model'),
  }

  return {
    add(exchange) {
      const { usage } = exchange
      insert.run({
        at: exchange.startedAtMs,
        sessionId: exchange.sessionId,
        connectionId: exchange.connectionId,
        client: exchange.client,
        modelAsked: exchange.modelAsked,
        modelSent: exchange.modelSent,
        modelReported: exchange.modelReported,
        input: usage?.input ?? null,
        cacheRead: usage?.cacheRead ?? null,
        cacheWrite: usage?.cacheWrite ?? null,
        output: usage?.output ?? null,
        reasoning: usage?.reasoning ?? null,
        status: exchange.status,
        firstByteMs: exchange.firstByteMs,
        totalMs: exchange.totalMs,
        terminal: exchange.end,
        failoverIndex: exchange.failoverIndex,
        responseId: exchange.responseId,
      })
    },
    roll(olderThanMs) {
      roll.run(olderThanMs)
      drop.run(olderThanMs)
    },
    totals: (by, sinceMs) =>
      prepared[by].all({ since: sinceMs }).map((row) => {
        const { key, ...rest } = Totals.parse(row)
        return { key: key ?? '', ...rest }
      }),
  }
}

/** Days as the person at this machine counts them. */
const DAY = "date(at / 1000, 'unixepoch', 'localtime')"
/** What the Provider says it ran is what it bills. */
const MODEL = 'coalesce(model_reported, model_sent)'
const FAILED = "(terminal NOT IN ('completed', 'incomplete'))"
/** Nobody said is not zero. */
const ADDED = (column: string): string =>
  `CASE WHEN ${column} IS NULL THEN excluded.${column} ELSE ${column} + coalesce(excluded.${column}, 0) END`
