import { expect, test } from 'vitest'
import { runtimeMigrations } from '../../../src/main/runtime/index.ts'
import { openTestStore } from '../../support/store.ts'

test.each([
  ['an intent changed', `UPDATE intents SET request = '{}'`],
  ['an event changed', `UPDATE run_events SET data = '{"a":1}'`],
  [
    'a second run beside an active one',
    `INSERT INTO runs (id, session_id, intent_id, attempt, source, mode, policy, state, created_at, updated_at) VALUES ('r2', 's', 'i', 2, 'cli', 'agent', '{}', 'created', 1, 1)`,
  ],
  ['an end without its time', `UPDATE runs SET state = 'completed'`],
  [
    'a settled decision without its time',
    `INSERT INTO decisions (id, session_id, run_id, kind, worker_request, status, payload, created_at) VALUES ('d', 's', 'r', 'approval', 'q', 'resolved', '{}', 1)`,
  ],
  [
    'a rule of nobody',
    `INSERT INTO permission_rules (id, match_kind, pattern, effect, created_at) VALUES ('p', 'tool', 'x', 'allow', 1)`,
  ],
  [
    'data that is too long',
    `INSERT INTO run_events (session_id, seq, type, at, data) VALUES ('s', 2, 'notice', 1, '"' || hex(zeroblob(33000)) || '"')`,
  ],
])('the database itself refuses %s', async (_what, sql) => {
  using store = await openTestStore(runtimeMigrations)
  store.db.exec(`
    INSERT INTO sessions (id, agent_id, work_dir, created_via, created_at, updated_at) VALUES ('s', 'claude', '/', 'cli', 1, 1);
    INSERT INTO intents (id, session_id, source, entry_source, fingerprint, request, policy, created_at) VALUES ('i', 's', 'cli', 'cli', 'f', '[]', '{}', 1);
    INSERT INTO runs (id, session_id, intent_id, source, mode, policy, state, created_at, updated_at) VALUES ('r', 's', 'i', 'cli', 'agent', '{}', 'running', 1, 1);
    INSERT INTO run_events (session_id, seq, type, at) VALUES ('s', 1, 'notice', 1);
  `)
  expect(() => store.db.exec(sql)).toThrow(/constraint|immutable|append-only/i)
})

test('what a deleted session said is found no more', async () => {
  using store = await openTestStore(runtimeMigrations)
  store.db.exec(`
    INSERT INTO sessions (id, agent_id, work_dir, created_via, created_at, updated_at) VALUES ('s', 'claude', '/', 'cli', 1, 1);
    INSERT INTO entries (id, session_id, seq, kind, body, created_at) VALUES ('e', 's', 1, 'user', '{"text":"wheels and houses"}', 1);
  `)
  const found = (): unknown[] =>
    store.db.prepare(`SELECT rowid FROM entries_fts WHERE entries_fts MATCH 'houses'`).all()
  expect(found()).toHaveLength(1)
  store.db.exec(`DELETE FROM sessions`)
  expect(found()).toEqual([])
})

test('a rule of before holds for a command in the folder of its session or project alone', async () => {
  using store = await openTestStore(runtimeMigrations.slice(0, 4))
  store.db.exec(`
    INSERT INTO sessions (id, agent_id, work_dir, created_via, created_at, updated_at) VALUES ('s', 'claude', '/work', 'cli', 1, 1);
    INSERT INTO permission_rules (id, session_id, project_dir, match_kind, pattern, effect, created_at) VALUES
      ('a', 's', NULL, 'command_exact', 'make', 'allow', 1), ('b', NULL, '/project', 'command_exact', 'make', 'allow', 1),
      ('c', 's', NULL, 'tool', 'Edit', 'allow', 1), ('d', 's', NULL, 'command_exact', 'ls', 'reject', 1);
  `)
  runtimeMigrations[4]?.up(store.db)
  expect(store.db.prepare('SELECT id, folder FROM permission_rules ORDER BY id').all()).toEqual([
    { id: 'a', folder: '/work' },
    { id: 'b', folder: '/project' },
    { id: 'c', folder: null },
    { id: 'd', folder: null },
  ])
})
