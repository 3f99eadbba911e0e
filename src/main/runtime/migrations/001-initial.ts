import type { Database, Migration } from '../../platform/types.ts'

/**
 * The whole schema of the runtime. Every JSON column is an object or an array. A released lease stays as a tombstone, so
 * that its epoch keeps growing; events and intents cannot be changed, terminal runs cannot come back but by a reopen.
 */
export const initial: Migration = {
  system: 'runtime',
  version: 1,
  name: 'initial',
  up(db: Database): void {
    db.exec(SCHEMA)
  },
}

const SCHEMA = `
  -- policy_source is the header: who owns the session's policy, NULL = a person
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    title_by TEXT CHECK (title_by IN ('person', 'agent', 'prompt')),
    agent_id TEXT NOT NULL,
    work_dir TEXT NOT NULL,
    extra_dirs TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(extra_dirs)),
    created_via TEXT NOT NULL CHECK (created_via IN ('desktop', 'browser', 'cli', 'acp', 'cron', 'channel')),
    policy_source TEXT CHECK (policy_source IN ('cron', 'channel')),
    provider TEXT,
    model TEXT,
    mode TEXT CHECK (mode IN ('plan', 'agent', 'yolo', 'os')),
    effort TEXT NOT NULL DEFAULT 'default' CHECK (effort IN ('default', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
    sandbox INTEGER NOT NULL DEFAULT 0 CHECK (sandbox IN (0,1)),
    browser INTEGER NOT NULL DEFAULT 0 CHECK (browser IN (0,1)),
    web_search INTEGER NOT NULL DEFAULT 0 CHECK (web_search IN (0,1)),
    config_rev INTEGER NOT NULL DEFAULT 1,
    last_event_seq INTEGER NOT NULL DEFAULT 0,
    event_floor INTEGER NOT NULL DEFAULT 0,
    last_entry_seq INTEGER NOT NULL DEFAULT 0,
    parent_id TEXT REFERENCES sessions(id) ON DELETE SET NULL,
    fork_kind TEXT CHECK (fork_kind IN ('session', 'message')),
    fork_boundary_seq INTEGER,
    prefix_length INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER
  ) STRICT;
  CREATE INDEX sessions_recent ON sessions(archived_at, updated_at DESC);
  -- a session bound to a schedule or an outside conversation
  CREATE TABLE session_bindings (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    source TEXT NOT NULL CHECK (source IN ('cron', 'channel')),
    external_key_hash TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    UNIQUE (source, external_key_hash)
  ) STRICT;
  -- the accepted request, immutable
  CREATE TABLE intents (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    entry_source TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    request TEXT NOT NULL CHECK (json_valid(request) AND octet_length(request) <= 393216),
    policy TEXT NOT NULL CHECK (json_valid(policy) AND octet_length(policy) <= 65536),
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX intents_by_session ON intents(session_id, created_at);
  CREATE TRIGGER intents_immutable BEFORE UPDATE ON intents BEGIN
    SELECT RAISE(ABORT, 'intent is immutable');
  END;
  -- prepared: the chosen end, kept from terminalizing until the terminal transaction
  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    intent_id TEXT NOT NULL REFERENCES intents(id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
    retry_of TEXT REFERENCES runs(id) ON DELETE SET NULL,
    source TEXT NOT NULL,
    mode TEXT NOT NULL,
    provider TEXT,
    model TEXT,
    executor TEXT NOT NULL DEFAULT 'local' CHECK (executor IN ('local', 'remote')),
    worker_ref TEXT,
    policy TEXT NOT NULL CHECK (json_valid(policy) AND octet_length(policy) <= 65536),
    state TEXT NOT NULL CHECK (state IN ('created', 'queued', 'running', 'waiting_for_approval', 'waiting_for_question', 'cancelling', 'terminalizing', 'completed', 'incomplete', 'failed', 'cancelled', 'timed_out')),
    side_effects TEXT NOT NULL DEFAULT 'none' CHECK (side_effects IN ('none', 'read_only', 'mutating', 'unknown')),
    partial_output INTEGER NOT NULL DEFAULT 0 CHECK (partial_output IN (0,1)),
    accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0,1)),
    reopen_count INTEGER NOT NULL DEFAULT 0,
    prepared TEXT CHECK (prepared IS NULL OR (json_valid(prepared) AND octet_length(prepared) <= 1310720)),
    error TEXT CHECK (error IS NULL OR json_valid(error)),
    progress TEXT CHECK (progress IS NULL OR json_valid(progress)),
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    updated_at INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (intent_id, attempt),
    CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'incomplete', 'failed', 'cancelled', 'timed_out')))
  ) STRICT;
  CREATE UNIQUE INDEX runs_one_active ON runs(session_id)
    WHERE state IN ('created','queued','running','waiting_for_approval', 'waiting_for_question','cancelling','terminalizing');
  CREATE INDEX runs_by_session ON runs(session_id, created_at);
  CREATE TRIGGER runs_monotonic BEFORE UPDATE OF state ON runs
    WHEN OLD.finished_at IS NOT NULL AND NEW.state <> OLD.state AND NEW.reopen_count <> OLD.reopen_count + 1 BEGIN
    SELECT RAISE(ABORT, 'terminal run is final');
  END;
  -- one append-only log per session; run_id is NULL for session facts
  CREATE TABLE run_events (
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL CHECK (seq >= 1),
    run_id TEXT REFERENCES runs(id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    state TEXT,
    at INTEGER NOT NULL,
    dedupe_key TEXT,
    data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data) AND octet_length(data) <= 65536),
    PRIMARY KEY (session_id, seq)
  ) STRICT;
  CREATE UNIQUE INDEX run_events_dedupe ON run_events(session_id, dedupe_key) WHERE dedupe_key IS NOT NULL;
  CREATE INDEX run_events_by_run ON run_events(run_id, seq) WHERE run_id IS NOT NULL;
  CREATE TRIGGER run_events_append_only BEFORE UPDATE ON run_events BEGIN
    SELECT RAISE(ABORT, 'events are append-only');
  END;
  CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    intent_id TEXT REFERENCES intents(id) ON DELETE SET NULL,
    run_id TEXT REFERENCES runs(id) ON DELETE SET NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'completed', 'incomplete', 'failed', 'cancelled', 'timed_out')),
    start_seq INTEGER NOT NULL,
    end_seq INTEGER,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    CHECK ((status = 'open') = (end_seq IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX turns_one_open ON turns(session_id) WHERE status = 'open';
  CREATE INDEX turns_by_session ON turns(session_id, start_seq);
  -- the transcript
  CREATE TABLE entries (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL CHECK (seq >= 1),
    turn_id TEXT REFERENCES turns(id) ON DELETE SET NULL,
    run_id TEXT REFERENCES runs(id) ON DELETE SET NULL,
    kind TEXT NOT NULL CHECK (kind IN ('turn_start', 'user', 'assistant', 'tool', 'summary', 'title', 'config', 'turn_end')),
    body TEXT NOT NULL CHECK (json_valid(body) AND octet_length(body) <= 1048576),
    created_at INTEGER NOT NULL,
    UNIQUE (session_id, seq)
  ) STRICT;
  -- one row per session, kept as a tombstone after release
  CREATE TABLE leases (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    epoch INTEGER NOT NULL CHECK (epoch >= 1),
    token_hash TEXT NOT NULL,
    owner_instance TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_host TEXT NOT NULL,
    purpose TEXT NOT NULL CHECK (purpose IN ('admission', 'execution', 'recovery', 'mutation', 'fork')),
    run_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'released')),
    acquired_at INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CHECK ((purpose IN ('execution', 'recovery')) = (run_id IS NOT NULL))
  ) STRICT;
  CREATE INDEX leases_expiry ON leases(expires_at) WHERE state = 'active';
  CREATE TABLE submissions (
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    scope TEXT NOT NULL CHECK (scope = 'submit' OR scope LIKE 'retry:%'),
    key_hash TEXT NOT NULL CHECK (length(key_hash) = 71),
    fingerprint TEXT NOT NULL,
    intent_id TEXT REFERENCES intents(id) ON DELETE SET NULL,
    run_id TEXT REFERENCES runs(id) ON DELETE SET NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (session_id, key_hash)
  ) STRICT;
  CREATE INDEX submissions_age ON submissions(created_at);
  CREATE TABLE decisions (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('approval', 'question')),
    worker_request TEXT NOT NULL,
    risk TEXT CHECK (risk IN ('low', 'medium', 'high')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'resolved', 'cancelled', 'timed_out', 'withdrawn')),
    value TEXT NOT NULL DEFAULT '',
    payload TEXT NOT NULL CHECK (json_valid(payload) AND octet_length(payload) <= 32768),
    blob TEXT CHECK (blob IS NULL OR length(blob) = 64),
    answered_by TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    settled_at INTEGER,
    applied_at INTEGER,
    told TEXT CHECK (told IN ('sent', 'withdrawn', 'lost')),
    UNIQUE (run_id, worker_request),
    CHECK ((status = 'pending') = (settled_at IS NULL))
  ) STRICT;
  CREATE INDEX decisions_pending ON decisions(session_id, created_at) WHERE status = 'pending';
  CREATE INDEX decisions_expiry ON decisions(expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;
  CREATE INDEX decisions_unapplied ON decisions(run_id) WHERE status <> 'pending' AND applied_at IS NULL;
  -- what "always" answers left behind
  CREATE TABLE permission_rules (
    id TEXT PRIMARY KEY,
    session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE,
    project_dir TEXT,
    match_kind TEXT NOT NULL CHECK (match_kind IN ('command_exact', 'command_prefix', 'tool', 'path_prefix')),
    pattern TEXT NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('allow', 'reject')),
    decision_id TEXT,
    created_at INTEGER NOT NULL,
    CHECK ((session_id IS NULL) <> (project_dir IS NULL))
  ) STRICT;
  CREATE UNIQUE INDEX permission_rules_key ON permission_rules(ifnull(session_id,''), ifnull(project_dir,''), match_kind, pattern);
  CREATE TABLE input_resources (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    run_id TEXT REFERENCES runs(id) ON DELETE SET NULL,
    origin TEXT NOT NULL,
    item_key TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'file', 'audio', 'video')),
    filename TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    relative_path TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('prepared', 'attached', 'deleted', 'missing')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX input_resources_item ON input_resources(session_id, item_key) WHERE item_key IS NOT NULL;
  CREATE INDEX input_resources_drafts ON input_resources(created_at) WHERE status = 'prepared';
  CREATE TABLE run_inputs (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    resource_id TEXT NOT NULL REFERENCES input_resources(id) ON DELETE CASCADE,
    PRIMARY KEY (run_id, position)
  ) STRICT, WITHOUT ROWID;
  -- artifacts, copied to private storage
  CREATE TABLE attachments (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    run_id TEXT REFERENCES runs(id) ON DELETE SET NULL,
    origin TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'file', 'audio', 'video')),
    filename TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
    storage_key TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('accepted', 'generated', 'expired')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX attachments_expiry ON attachments(expires_at) WHERE status <> 'expired';
  -- the agent's own word; NULL: it did not say
  CREATE TABLE run_usage (
    run_id TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
    input_tokens INTEGER,
    cached_input_tokens INTEGER,
    cache_write_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cost_micros INTEGER,
    context_used INTEGER,
    context_size INTEGER,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE delivery_intents (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    transport TEXT NOT NULL,
    target_id TEXT NOT NULL DEFAULT '',
    context TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context)),
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'uncertain', 'cancelled')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (run_id, transport, target_id)
  ) STRICT;
  CREATE TABLE delivery_operations (
    id TEXT PRIMARY KEY,
    intent_id TEXT NOT NULL REFERENCES delivery_intents(id) ON DELETE CASCADE,
    op_key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('send_text', 'upload_artifact', 'send_artifact', 'send_fallback_text')),
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    depends_on TEXT REFERENCES delivery_operations(id),
    artifact_id TEXT REFERENCES attachments(id),
    idempotency_key TEXT NOT NULL,
    payload TEXT NOT NULL DEFAULT '',
    payload_digest TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'uploading', 'uploaded', 'sending', 'retry_wait', 'delivered', 'unsupported', 'failed', 'uncertain')),
    remote_asset_id TEXT NOT NULL DEFAULT '',
    remote_message_id TEXT NOT NULL DEFAULT '',
    remote_state TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(remote_state)),
    attempt_count INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    window_started_at INTEGER NOT NULL,
    failure_code TEXT NOT NULL DEFAULT '',
    lease_owner TEXT NOT NULL DEFAULT '',
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    lease_expires_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (intent_id, op_key),
    UNIQUE (intent_id, sequence)
  ) STRICT;
  CREATE INDEX delivery_due ON delivery_operations(status, next_attempt_at)
    WHERE status IN ('pending','uploading','sending','retry_wait');
  -- diagnosis and backoff; never ownership
  CREATE TABLE run_recoveries (
    run_id TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('recovering', 'failed', 'completed', 'detached_remote')),
    trigger_source TEXT NOT NULL,
    reason_code TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    previous_epoch INTEGER NOT NULL,
    last_error TEXT NOT NULL DEFAULT '',
    next_retry_at INTEGER,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    completed_at INTEGER
  ) STRICT;
  -- the only evidence that work goes on elsewhere
  CREATE TABLE remote_executions (
    run_id TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
    driver TEXT NOT NULL,
    remote_id TEXT NOT NULL,
    state TEXT NOT NULL,
    terminal INTEGER NOT NULL DEFAULT 0 CHECK (terminal IN (0,1)),
    can_cancel INTEGER NOT NULL DEFAULT 0 CHECK (can_cancel IN (0,1)),
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0,1)),
    cursor TEXT,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE fork_requests (
    source_session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    request_hash TEXT NOT NULL CHECK (length(request_hash) = 71),
    fingerprint TEXT NOT NULL,
    child_session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (source_session_id, request_hash)
  ) STRICT, WITHOUT ROWID;
  -- what a person has typed and not sent; one per session
  CREATE TABLE drafts (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id) ON DELETE CASCADE,
    rev INTEGER NOT NULL CHECK (rev >= 1),
    text TEXT NOT NULL CHECK (octet_length(text) <= 1048576),
    input_ids TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(input_ids)),
    queued INTEGER NOT NULL DEFAULT 0 CHECK (queued IN (0,1)),
    updated_at INTEGER NOT NULL
  ) STRICT;
  -- a finished run as a window shows it, worked out from its events once
  CREATE TABLE run_views (
    run_id TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
    last_seq INTEGER NOT NULL,
    view TEXT NOT NULL CHECK (json_valid(view))
  ) STRICT;
  -- the transcript's words; holds no copy of the text
  CREATE VIRTUAL TABLE entries_fts USING fts5(text, content='', contentless_delete=1);
  CREATE TRIGGER entries_fts_insert AFTER INSERT ON entries WHEN json_extract(NEW.body, '$.text') IS NOT NULL BEGIN
    INSERT INTO entries_fts(rowid, text) VALUES (NEW.n, json_extract(NEW.body, '$.text'));
  END;
  CREATE TRIGGER entries_fts_delete AFTER DELETE ON entries BEGIN
    DELETE FROM entries_fts WHERE rowid = OLD.n;
  END;
`
