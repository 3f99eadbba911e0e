/** What every system is given: time, ids, log, secrets, files and the database. Nothing here knows an agent. */
import type { Database as Sqlite } from 'better-sqlite3'
import type { AppError } from '../../shared/errors.ts'
import type { SettingKey, SettingValues } from '../../shared/settings.ts'
import type { PersistOutcome } from '../../shared/vocabulary.ts'

export type { PersistOutcome } from '../../shared/vocabulary.ts'

/** The only source of time. Tests hand over a clock that they move themselves. */
export interface Clock {
  /** Wall clock, Unix ms. May jump: never measure a wait with it. */
  nowMs(): number
  /** Never goes back. For waits and durations. */
  monotonicMs(): number
  /** Runs `fn` once after `ms`; disposing forgets it. Timers do not keep the process alive. */
  after(ms: number, fn: () => void): Disposable
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The only source of chance. */
export interface Ids {
  /** UUID v7: time-ordered, unique. */
  next(): string
  /** Cryptographically random bytes. */
  bytes(count: number): Uint8Array
}

export type LogFields = Readonly<Record<string, unknown>>

/** Structured and redacted. A field that holds an `Error` or a `Secret` is written safely. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  child(fields: LogFields): Log
}

/** Absolute paths. Everything Wheelhouse writes lies under `dataDir` (0700). */
export interface Paths {
  readonly dataDir: string
  readonly database: string
  readonly settings: string
  readonly logDir: string
  readonly backups: string
  readonly blobs: string
  /** One private folder per worker lies in here. */
  readonly workers: string
  readonly providers: string
  /** The host's control socket, or the named pipe on Windows. */
  readonly hostSocket: string
}

/** Why a secret is opened. `reveal` is called by the credential store, the header writer and few others. */
export type SecretUse = 'store' | 'upstream_header' | 'local_key_file' | 'task_token' | 'redactor'

/** Prints as `[secret]` in `toString`, `toJSON` and `util.inspect`. */
export interface Secret {
  reveal(use: SecretUse): string
  /** Constant-time. */
  equals(other: Secret): boolean
  /** Hex. */
  sha256(): string
}

/** Every live secret, so that each way out can blank it: log, events, content stream, errors, exports. */
export interface SecretRegistry {
  add(secret: Secret, label: string): Disposable
  /** Replaces each registered secret, and its JSON-escaped, percent- and base64-encoded forms, by `[secret]`. */
  redact(text: string): string
  /** The stream form: a secret cut by two chunks is still found. `end` flushes what was held back; another text may follow. */
  stream(): { push(chunk: string): string; end(): string }
  /** Labels of the registered secrets that stand in `text` in any form: for a check before something leaves. */
  find(text: string): readonly string[]
  /** Another registry that looks for these secrets too, now and later, in the same pass as for those added to it alone. */
  extend(): SecretRegistry
}

/**
 * Named places where a fault test ends the process or makes the step throw (`WHEELHOUSE_FAILPOINT=<name>:kill|fail`, test
 * builds only). In production every call is a no-op.
 */
export interface Failpoints {
  hit(name: string): void
}

export interface WriteOptions {
  mode?: number
  /** Whose the file stays. */
  owner?: { uid: number; gid: number }
  /** The last look before the rename. What it throws is thrown, and the file is as it was. */
  guard?: () => Promise<void>
}

export interface DurableFile {
  /** Null: there is no such file. @throws AppError `file_unsafe` (link, foreign owner, over `maxBytes`), `file_failed`. */
  read(path: string, limits: { maxBytes: number }): Promise<Uint8Array | null>
  /**
   * Temp file in the same folder, 0600 unless `mode` says otherwise, fsync, rename, fsync of the folder, which is made
   * (0700) when it is missing. @throws AppError `storage_full`, `file_failed`: the file is as it was before.
   */
  write(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<PersistOutcome>
  /** A file that is not there is `{ applied: true, durable: true }`. */
  remove(path: string): Promise<PersistOutcome>
}

export type Database = Sqlite

/** Proof that the caller stands inside a `writeTx`: handed on, never kept. */
export interface Tx {
  readonly db: Database
}

export interface Migration {
  system: 'runtime' | 'executor' | 'providers' | 'hosting' | 'desktop' | 'schedules'
  /** 1, 2, 3 … within its system. */
  version: number
  name: string
  up(db: Database): void
}

/** The one database file. Reads are synchronous on `db`; every write goes through `writeTx`. */
export interface Store {
  readonly db: Database
  /**
   * `BEGIN IMMEDIATE … COMMIT` at `synchronous=FULL`. `fn` may run several times and has no other effect. Waits on a busy
   * database without blocking: 10, 20, 40, 80, 160, then 250 ms each, 5 s in all.
   * @throws AppError `database_busy`, `storage_full`, `persistence_failed`, `database_corrupt`; whatever `fn` throws.
   */
  writeTx<T>(fn: (tx: Tx) => T, signal?: AbortSignal): Promise<T>
  /** Runs `fn` once the transaction has committed (or at once outside of one). For telling subscribers. */
  afterCommit(tx: Tx, fn: () => void): void
  /** A copy made by SQLite's own backup. */
  backup(path: string): Promise<void>
  close(): void
}

/**
 * A duplex of JSON frames, whatever carries them: `host.sock`, a WebSocket, Electron's IPC. What the frames mean is the
 * bridge's. Each `on…` takes one listener but `onClose` and `onDrain`, which take many.
 */
export interface FrameConnection {
  /** False: above the high-water mark; go on after `onDrain`. Sending on a closed connection does nothing and answers true. */
  send(frame: unknown): boolean
  /** Called once per frame, parsed from JSON, in wire order. */
  onFrame(listener: (frame: unknown) => void): void
  /** What came was no JSON (`frame_malformed`) or over the bound (`frame_too_large`). The connection stays. */
  onBadFrame(listener: (error: AppError) => void): void
  onClose(listener: () => void): void
  /** Fires each time the buffer has emptied below the mark. Answers the function that forgets the listener. */
  onDrain(listener: () => void): () => void
  /** Bytes that were sent and not yet taken by the other side. */
  bufferedBytes(): number
  close(): void
}

export interface FrameLimits {
  /** Longest frame taken from the other side, bytes of UTF-8. */
  maxInBytes: number
  maxOutBytes: number
  /** Above so many waiting bytes `send` answers false. */
  highWaterBytes: number
}

export type HostRole =
  /** This process owns the data folder until `release` or its death. */
  | { kind: 'host'; release(): Promise<void> }
  /** Another one does. `connect` fails with `host_unreachable` when it does not answer. */
  | { kind: 'running'; connect(signal?: AbortSignal): Promise<FrameConnection> }

/** One host per data folder, held by a lock of the operating system that dies with its process. */
export interface HostControl {
  /** Makes the data folder when it is missing. @throws AppError `data_dir_unwritable`. */
  acquire(dataDir: string): Promise<HostRole>
  /** Takes connections at the control socket. For the one that is the host. @throws AppError `data_dir_unwritable`. */
  listen(dataDir: string, accept: (connection: FrameConnection) => void): Promise<AsyncDisposable>
}

export interface Settings {
  /** All of them, a default where nothing was chosen. A new object after each change. */
  values(): SettingValues
  get<Key extends SettingKey>(key: Key): SettingValues[Key]
  /** Checks, saves, then tells the subscribers. @throws AppError `input_invalid`, `settings_invalid`, `storage_full`, `file_failed`. */
  set(key: string, value: unknown): Promise<{ values: SettingValues; durable: boolean }>
  subscribe(fn: (values: SettingValues) => void): Disposable
}

/** What a system gets from `host.ts`. */
export interface Platform {
  clock: Clock
  ids: Ids
  log: Log
  paths: Paths
  secrets: SecretRegistry
  files: DurableFile
  store: Store
  failpoints: Failpoints
}
