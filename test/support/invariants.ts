/**
 * What holds of every row of a database in which nothing runs, whatever happened before: crashes, races, stops. Each rule is
 * a query for what breaks it.
 */
import Sqlite from 'better-sqlite3'
import type { Database } from 'better-sqlite3'

interface Rule {
  /** What holds. */
  says: string
  /** Rows that break it. */
  broken: string
}

const ENDED = `('completed', 'incomplete', 'failed', 'cancelled', 'timed_out')`

const RULES: readonly Rule[] = [
  {
    says: "a session's events are numbered from its floor to its head without a gap",
    broken: `SELECT s.id, s.event_floor, s.last_event_seq, count(e.seq) AS events, min(e.seq) AS first, max(e.seq) AS last
      FROM sessions s LEFT JOIN run_events e ON e.session_id = s.id GROUP BY s.id
      HAVING events <> last_event_seq - event_floor
        OR (events > 0 AND (first <> event_floor + 1 OR last <> last_event_seq))`,
  },
  {
    says: "a session's entries are numbered from 1 without a gap",
    broken: `SELECT s.id, s.last_entry_seq, count(e.seq) AS entries, max(e.seq) AS last
      FROM sessions s LEFT JOIN entries e ON e.session_id = s.id GROUP BY s.id
      HAVING entries <> last_entry_seq OR (entries > 0 AND last <> last_entry_seq)`,
  },
  { says: 'every run has ended', broken: `SELECT id, state FROM runs WHERE state NOT IN ${ENDED}` },
  {
    says: 'an ended run keeps no prepared end, no progress, and says when it ended',
    broken: `SELECT id FROM runs WHERE prepared IS NOT NULL OR progress IS NOT NULL OR finished_at IS NULL`,
  },
  {
    says: 'a run that did not complete says why, one that did does not',
    broken: `SELECT id, state, error FROM runs WHERE (error IS NULL) <> (state = 'completed')`,
  },
  {
    says: 'a run has one event of its beginning, which is its first',
    broken: `SELECT r.id, count(e.seq) AS begins, min(e.seq) AS first FROM runs r
      LEFT JOIN run_events e ON e.run_id = r.id AND e.type = 'run_created' GROUP BY r.id
      HAVING begins <> 1 OR first <> (SELECT min(seq) FROM run_events WHERE run_id = r.id)`,
  },
  {
    says: 'a run has one event of each of its ends, and the last one says the state of its row',
    broken: `SELECT r.id, r.state, r.reopen_count, count(e.seq) AS ends FROM runs r
      LEFT JOIN run_events e ON e.run_id = r.id AND e.type IN ('run_finished', 'run_recovered') GROUP BY r.id
      HAVING ends <> r.reopen_count + 1 OR r.state IS NOT
        (SELECT state FROM run_events WHERE run_id = r.id AND type IN ('run_finished', 'run_recovered') ORDER BY seq DESC LIMIT 1)`,
  },
  {
    says: 'nothing of a run stands behind its end, but the word that an answer was told',
    broken: `SELECT e.run_id, e.seq, e.type FROM run_events e
      WHERE e.run_id IS NOT NULL AND e.type NOT IN ('decision_told') AND e.seq >
        (SELECT max(seq) FROM run_events WHERE run_id = e.run_id AND type IN ('run_finished', 'run_recovered'))`,
  },
  {
    says: 'an intent has its attempts numbered from 1, each but the first the retry of the one before',
    broken: `SELECT i.id, count(r.id) AS attempts, max(r.attempt) AS last FROM intents i LEFT JOIN runs r ON r.intent_id = i.id
      GROUP BY i.id HAVING attempts = 0 OR last <> attempts
      UNION ALL
      SELECT r.id, r.attempt, r.retry_of FROM runs r WHERE (r.attempt = 1) <> (r.retry_of IS NULL)`,
  },
  {
    says: 'a submission names a run of its intent and session',
    broken: `SELECT s.run_id FROM submissions s LEFT JOIN runs r ON r.id = s.run_id
      WHERE s.run_id IS NOT NULL AND (r.intent_id IS NOT s.intent_id OR r.session_id IS NOT s.session_id)`,
  },
  { says: 'no lease is held', broken: `SELECT session_id, purpose, run_id FROM leases WHERE state = 'active'` },
  {
    says: 'a turn is closed in the state of its run, at its last entry',
    broken: `SELECT t.id, t.status, r.state FROM turns t JOIN runs r ON r.id = t.run_id
      WHERE t.status <> r.state OR t.end_seq IS NOT (SELECT max(seq) FROM entries WHERE turn_id = t.id)
      UNION ALL SELECT id, status, NULL FROM turns WHERE status = 'open'`,
  },
  {
    says: 'a turn begins, holds its prompt, and ends, once each; it has one answer at most',
    broken: `SELECT t.id,
        sum(e.kind = 'turn_start') AS starts, sum(e.kind = 'user') AS prompts, sum(e.kind = 'turn_end') AS ends, sum(e.kind = 'assistant') AS answers
      FROM turns t LEFT JOIN entries e ON e.turn_id = t.id GROUP BY t.id
      HAVING starts IS NOT 1 OR prompts < 1 OR ends IS NOT 1 OR answers > 1`,
  },
  {
    says: 'the prompt in the transcript is the one of the log',
    broken: `SELECT e.run_id, e.seq FROM run_events e JOIN turns t ON t.run_id = e.run_id
      JOIN entries u ON u.turn_id = t.id AND u.kind = 'user' AND u.seq = t.start_seq + 1
      WHERE e.type = 'run_created' AND json_extract(e.data, '$.prompt') IS NOT json_extract(u.body, '$.text')`,
  },
  {
    says: 'the answer in the transcript is what the log says was said',
    broken: `SELECT a.run_id, json_extract(a.body, '$.text') AS entry, said.text AS log FROM entries a JOIN (
        SELECT run_id, group_concat(text, char(10) || char(10)) AS text FROM (
          SELECT run_id, message, group_concat(text, '') AS text, min(seq) AS first FROM (
            SELECT run_id, json_extract(data, '$.messageId') AS message, json_extract(data, '$.text') AS text, seq
            FROM run_events WHERE type = 'output_text' ORDER BY run_id, seq)
          GROUP BY run_id, message HAVING trim(text, char(9, 10, 11, 12, 13, 32)) <> '' ORDER BY run_id, first)
        GROUP BY run_id) said ON said.run_id = a.run_id
      WHERE a.kind = 'assistant' AND json_extract(a.body, '$.text') <> said.text`,
  },
  {
    says: 'a run that said something and ended by itself has an answer',
    broken: `SELECT r.id FROM runs r JOIN turns t ON t.run_id = r.id JOIN run_events f ON f.run_id = r.id AND f.type = 'run_finished'
      WHERE EXISTS (SELECT 1 FROM run_events WHERE run_id = r.id AND type = 'output_text'
          AND trim(json_extract(data, '$.text'), char(9, 10, 11, 12, 13, 32)) <> '')
        AND NOT EXISTS (SELECT 1 FROM entries WHERE run_id = r.id AND kind = 'assistant')`,
  },
  {
    says: 'a run that ended by itself has one entry for each of its tool calls, up to 300',
    broken: `SELECT r.id, calls, (SELECT count(*) FROM entries WHERE run_id = r.id AND kind = 'tool') AS entries
      FROM runs r JOIN turns t ON t.run_id = r.id JOIN run_events f ON f.run_id = r.id AND f.type = 'run_finished' JOIN (
        SELECT run_id, count(DISTINCT json_extract(data, '$.toolCallId')) AS calls FROM run_events
        WHERE type IN ('tool_started', 'tool_updated', 'tool_finished') GROUP BY run_id) c ON c.run_id = r.id
      WHERE calls < 300 AND entries <> calls`,
  },
  {
    says: 'no question is open, and each that was asked is told and settled once',
    broken: `SELECT d.id, d.status, count(e.seq) FROM decisions d LEFT JOIN run_events e
        ON e.run_id = d.run_id AND e.type = 'decision_resolved' AND json_extract(e.data, '$.decisionId') = d.id
      GROUP BY d.id HAVING d.status = 'pending' OR count(e.seq) <> 1`,
  },
  {
    says: 'a delivery is what its pieces are',
    broken: `SELECT i.id, i.status FROM delivery_intents i JOIN delivery_operations o ON o.intent_id = i.id GROUP BY i.id
      HAVING (i.status = 'delivered') <> (sum(o.status NOT IN ('uploaded', 'delivered', 'unsupported')) = 0)`,
  },
  {
    says: 'an input that a run was given names that run, or an earlier attempt at the same request',
    broken: `SELECT i.id FROM run_inputs ri JOIN input_resources i ON i.id = ri.resource_id JOIN runs r ON r.id = ri.run_id
      LEFT JOIN runs f ON f.id = i.run_id WHERE i.status = 'attached' AND f.intent_id IS NOT r.intent_id`,
  },
  {
    says: 'search knows the words of every entry that has some, and no others',
    broken: `SELECT 'entries' AS side, n FROM entries WHERE json_extract(body, '$.text') IS NOT NULL
        AND n NOT IN (SELECT id FROM entries_fts_docsize)
      UNION ALL SELECT 'index', id FROM entries_fts_docsize WHERE id NOT IN (SELECT n FROM entries)`,
  },
]

/**
 * Sentences that do not hold of the database at `path`, each with the first row that breaks it; none when all is well. By a
 * connection of its own: one that looked before keeps a picture of the search index, which the check takes for damage.
 */
export function auditOf(path: string): string[] {
  const db = new Sqlite(path, { readonly: true, timeout: 5_000 })
  try {
    return brokenRules(db)
  } finally {
    db.close()
  }
}

function brokenRules(db: Database): string[] {
  const broken: string[] = []
  for (const { says, broken: sql } of RULES) {
    const rows = db.prepare(sql).all()
    if (rows.length > 0) broken.push(`not true that ${says}: ${rows.length} rows, ${JSON.stringify(rows[0])}`)
  }
  const integrity = db.pragma('integrity_check', { simple: true })
  if (integrity !== 'ok') broken.push(`the database is damaged: ${String(integrity)}`)
  const orphans = db.pragma('foreign_key_check') as unknown[]
  if (orphans.length > 0) broken.push(`rows name others that are not there: ${JSON.stringify(orphans[0])}`)
  return broken
}
