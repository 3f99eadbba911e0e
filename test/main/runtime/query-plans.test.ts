/** How SQLite answers each statement of the runtime: by an index, or by reading a whole table or sorting what it found. */
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { executorMigrations } from '../../../src/main/executor/index.ts'
import { providerMigrations } from '../../../src/main/providers/index.ts'
import { runtimeMigrations } from '../../../src/main/runtime/index.ts'
import { createTables } from '../../../src/main/runtime/store/index.ts'
import { createFakeIds } from '../../support/ids.ts'

/** What reads more than it answers, or sorts, and why that is right. Every other statement has to do without. */
const ALLOWED: readonly { statement: RegExp; step: RegExp; because: string }[] = [
  {
    statement: /^SELECT session_id FROM runs WHERE state IN/,
    step: /^SCAN runs USING INDEX runs_one_active$/,
    because: 'the index holds the runs that have not ended, and nothing else',
  },
  {
    statement: /^SELECT id FROM \(SELECT id FROM sessions WHERE id > @after/,
    step: /^SCAN (some|\(subquery-\d+\))$/,
    because: 'the hourly look for old runs goes through some sessions at a time, and counts no further than it keeps',
  },
  {
    statement: /^SELECT \* FROM decisions WHERE run_id = \? AND status = 'pending'/,
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    because: 'a run has 32 questions open at most',
  },
  {
    statement: /^SELECT \* FROM decisions INDEXED BY decisions_pending/,
    step: /^(SCAN decisions USING INDEX decisions_pending|USE TEMP B-TREE FOR (LAST TERM OF )?ORDER BY)$/,
    because: 'the index holds what is pending, and nothing else',
  },
  {
    statement: /^SELECT \* FROM permission_rules/,
    step: /^(SCAN permission_rules|USE TEMP B-TREE FOR ORDER BY)$/,
    because: 'all of them are asked for, and a folder has few',
  },
  {
    statement: /FROM delivery_intents i JOIN runs r/,
    step: /^SCAN i USING INDEX delivery_intents_newest$/,
    because: 'a page from the newest on, and sessions have few',
  },
  {
    statement: /FROM delivery_operations o JOIN delivery_intents i/,
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    because: 'only what is still open is sorted',
  },
  {
    statement: /^WITH RECURSIVE after\(id\)/,
    step: /^SCAN after$/,
    because: 'the pieces of one delivery',
  },
  {
    statement: /^SELECT title FROM sessions WHERE substr/,
    step: /^SCAN sessions$/,
    because: 'a fork looks for a free number among the titles',
  },
  {
    statement: /^SELECT id FROM sessions WHERE title LIKE/,
    step: /^(SCAN sessions|USE TEMP B-TREE FOR ORDER BY)$/,
    because: 'words inside of titles are found by reading the titles',
  },
  {
    statement: /^SELECT \* FROM decisions WHERE run_id = \? ORDER BY created_at, id$/,
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    because: 'the questions of one run are few',
  },
  {
    statement: /FROM json_each\(\?\) wanted/,
    step: /^SCAN wanted VIRTUAL TABLE INDEX/,
    because: 'these are the ids that are asked for',
  },
  {
    statement: /FROM entries_fts JOIN entries/,
    step: /^SCAN entries_fts VIRTUAL TABLE INDEX/,
    because: 'this is how a search of the full-text index is called',
  },
]

const db = new Sqlite(':memory:')
for (const { up } of [...runtimeMigrations, ...executorMigrations, ...providerMigrations]) up(db)
afterAll(() => void db.close())

const STATEMENTS = statementsOf(db)

/** Every statement that the tables prepare, in one line. */
function statementsOf(database: Database): string[] {
  const seen: string[] = []
  const spy = new Proxy(database, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name)
      return (sql: string) => {
        seen.push(sql.replaceAll(/\s+/g, ' ').trim())
        return target.prepare(sql)
      }
    },
  })
  createTables(spy, createFakeIds())
  return seen
}

function planOf(sql: string): string[] {
  const named = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1])
  const values =
    named.length > 0 ? [Object.fromEntries(named)] : Array.from({ length: sql.split('?').length - 1 }, () => 1)
  const steps = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
  return steps.map(({ detail }) => detail)
}

const isCostly = (step: string): boolean =>
  (step.startsWith('SCAN ') && !/^SCAN (CONSTANT ROW|json_each)/.test(step)) ||
  step.includes('TEMP B-TREE') ||
  step.includes('AUTOMATIC')

test('the statements of the runtime are all there', () => {
  expect(STATEMENTS.length).toBeGreaterThan(120)
  const unused = ALLOWED.filter(({ statement }) => !STATEMENTS.some((sql) => statement.test(sql)))
  expect(unused).toEqual([])
})

test.each(STATEMENTS)('answers by an index: %s', (sql) => {
  const costly = planOf(sql).filter(
    (step) => isCostly(step) && !ALLOWED.some(({ statement, step: fits }) => statement.test(sql) && fits.test(step)),
  )
  expect(costly).toEqual([])
})

test('a row that others name is deleted without reading their tables', () => {
  const tables = db.prepare<[], string>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%REFERENCES%'`,
  )
  const without: string[] = []
  for (const table of tables.pluck().all()) {
    const references = db.prepare<[], { from: string }>(`SELECT "from" FROM pragma_foreign_key_list('${table}')`).all()
    for (const { from } of references) {
      const plan = planOf(`SELECT 1 FROM ${table} WHERE ${from} = ?`)
      if (plan.some(isCostly)) without.push(`${table}.${from}`)
    }
  }
  expect(without).toEqual([])
})

test('the pages of a log are read by its key, at any depth', () => {
  const page = STATEMENTS.find((sql) =>
    sql.includes('FROM run_events WHERE session_id = @sessionId AND seq > @afterSeq'),
  )
  expect(planOf(page ?? '')).toEqual([
    'SEARCH run_events USING INDEX sqlite_autoindex_run_events_1 (session_id=? AND seq>?)',
  ])
})
