import { expect, test } from 'vitest'
import { ownerships } from '../../../src/main/bridge/handlers/ownership.ts'
import { createTestRuntime, quiet } from '../runtime/support/runtime.ts'

test('a run that cannot be read leaves the others in the list, and its own state is unknown', async () => {
  await using t = await createTestRuntime()
  const other = await t.runtime.sessions.create({
    agentId: 'claude',
    workDir: t.dir,
    createdVia: 'desktop',
    title: 'b',
  })
  await t.submit()
  await t.submit({ sessionId: other.id })
  await quiet()
  expect(ownerships(t.runtime)).toHaveLength(2)
  t.store.db.prepare(`UPDATE runs SET policy = '[1]', error = '[1]' WHERE session_id = ?`).run(t.session.id)
  expect(ownerships(t.runtime)).toMatchObject([
    { sessionId: t.session.id, state: 'unknown', run: null, error: 'database_corrupt' },
    { sessionId: other.id, state: 'local', error: null },
  ])
})
