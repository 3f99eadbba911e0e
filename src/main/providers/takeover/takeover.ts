/**
 * Takeover of one client's config file, as a procedure that survives being killed anywhere: the exact old bytes are kept
 * first, then the record says what is about to happen, then the file is replaced, then the record says that it was.
 */
import { hash } from 'node:crypto'
import { basename, dirname, isAbsolute } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import type { Clock, DurableFile, Failpoints, Log } from '../../platform/types.ts'
import { sweepTempFiles } from '../../platform/index.ts'
import { createMutex } from '../mutex.ts'
import { ConfigChanged, demandWritable, isWorldReadable, readConfig, replaceConfig } from './config-file.ts'
import type { ConfigFile } from './config-file.ts'
import { hunksOf } from './hunks.ts'
import type { Records, TakeoverRecord } from './record.ts'
import { decodeConfig } from './text.ts'
import type {
  Applied,
  Finding,
  ProjectionKind,
  Projector,
  TakeoverChange,
  TakeoverDetail,
  TakeoverPlan,
  TakeoverState,
  TakeoverStatus,
  TakeoverWarning,
  Target,
} from './types.ts'

const ATTEMPTS = 3

/** What takeover needs of the gateway. */
export interface TakeoverGateway {
  /** @throws AppError `route_listener_failed`. */
  ensureListening(): Promise<void>
  isListening(): boolean
  /** Makes the local key if there is none. @throws AppError `credential_store_unavailable`, `credential_store_failed`. */
  target(): Promise<Target>
  /** Null: there is no key yet, or it cannot be read. Writes nothing. */
  knownTarget(): Promise<Target | null>
  /** The client's default becomes its upstream where none was chosen. */
  ensureUpstream(): Promise<void>
}

export interface TakeoverDeps {
  projector: Projector
  records: Records
  gateway: TakeoverGateway
  files: DurableFile
  clock: Clock
  log: Log
  failpoints: Failpoints
  /** Where the client looks for its config today. */
  configPath(): string
  /** What else the person should know: a login, other files, a proxy. */
  surroundings(path: string, kind: ProjectionKind): Promise<readonly TakeoverWarning[]>
  preferredKind(): Promise<ProjectionKind>
  onChange(): void
}

export interface EnableRequest {
  kind?: ProjectionKind | undefined
  /** Of the plan that the person saw. */
  digest: string
  configPath?: string | undefined
}

export interface Takeover {
  /** Reads the file each time, writes nothing. */
  status(): Promise<TakeoverStatus>
  /** @throws AppError `takeover_config_*`, `takeover_conflict`, `takeover_projection_failed`. */
  plan(options?: { kind?: ProjectionKind | undefined; configPath?: string | undefined }): Promise<TakeoverPlan>
  /** @throws AppError as `plan`, and `route_listener_failed`: then the file was not touched. */
  enable(request: EnableRequest): Promise<TakeoverChange>
  disable(): Promise<TakeoverChange>
  /** Writes the projection again over today's file, or takes away what is left of it. Keeps no copy. */
  repair(): Promise<TakeoverChange>
  /** Today's file is kept, then the old one put back. @throws AppError `takeover_backup_missing`. */
  restoreBackup(): Promise<TakeoverChange>
  /** Finishes what a crash cut, and switches on again what a quit switched off. */
  start(): Promise<void>
  /** A quit in order: nothing is left pointing at a gateway that is gone. */
  stop(options: { keep: boolean }): Promise<void>
}

export function createTakeover(deps: TakeoverDeps): Takeover {
  const { projector, records, gateway, files, clock, log, failpoints } = deps
  const { client } = projector
  const lock = createMutex()

  async function loadRecord(): Promise<TakeoverRecord | null> {
    const record = await records.load()
    if (record !== 'unreadable') return record
    throw new AppError(
      'takeover_conflict',
      'The record of this takeover cannot be read: another version of Wheelhouse wrote it. Use that one to switch it off.',
    )
  }

  function isOn(record: TakeoverRecord | null): record is TakeoverRecord {
    return record !== null && (record.enabled || record.phase !== undefined)
  }

  // --- status

  async function status(): Promise<TakeoverStatus> {
    const loaded = await records.load()
    const record = loaded === 'unreadable' ? null : loaded
    const on = isOn(record)
    const configPath = on ? record.configPath : deps.configPath()
    const backup = await records.readBackup(record?.backupPath)
    const look = await lookAt(configPath, record, loaded === 'unreadable')
    return {
      client,
      state: look.state,
      detail: look.detail,
      warnings: look.warnings,
      configPath,
      kind: record?.kind ?? null,
      enabled: record?.enabled === true,
      listening: gateway.isListening(),
      restoreAvailable: backup !== null,
    }
  }

  async function lookAt(
    path: string,
    record: TakeoverRecord | null,
    unreadable: boolean,
  ): Promise<{ state: TakeoverState; detail: TakeoverDetail | null; warnings: readonly TakeoverWarning[] }> {
    const on = isOn(record)
    const past: TakeoverRecord | null = record
    if (unreadable) return { state: 'broken', detail: 'state_unreadable', warnings: [] }
    let file: ConfigFile
    let finding: Finding
    const warnings: TakeoverWarning[] = []
    try {
      file = await readConfig(path, files)
      if (on && file.bytes === null) return { state: 'drifted', detail: 'config_missing', warnings }
      if (file.bytes === null) return { state: 'inactive', detail: null, warnings }
      projector.check(file.text, path)
      const kind = on ? record.kind : projector.detect(file.text)
      finding =
        kind === null
          ? projector.inspect(file.text, projector.kinds[0] ?? 'env', null, null)
          : projector.inspect(file.text, kind, on ? await gateway.knownTarget() : null, on ? record : null)
      if (on && isWorldReadable(file)) warnings.push('config_world_readable')
      if (on) warnings.push(...projector.warnings(file.text, record.kind))
      if (on && path !== deps.configPath()) warnings.push('config_path_changed')
      if (on) warnings.push(...(await deps.surroundings(path, record.kind)))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const detail = error.code === 'takeover_config_malformed' ? 'config_malformed' : 'config_unreadable'
      return { state: on ? 'broken' : 'inactive', detail, warnings }
    }
    if (record?.phase !== undefined) return { state: 'drifted', detail: 'half_done', warnings }
    if (finding.kind === 'drifted') {
      const left = !on && past !== null && finding.detail === 'state_missing'
      return { state: 'drifted', detail: left ? (past.detail ?? 'block_user_changed') : finding.detail, warnings }
    }
    if (!on)
      return { state: 'inactive', detail: 'detail' in finding ? finding.detail : (past?.detail ?? null), warnings }
    if (!gateway.isListening()) return { state: 'broken', detail: 'gateway_not_listening', warnings }
    return { state: 'active', detail: null, warnings }
  }

  // --- planning

  async function pathFor(wanted: string | undefined): Promise<string> {
    if (wanted === undefined) return deps.configPath()
    if (isAbsolute(wanted) && basename(wanted) === basename(deps.configPath())) return wanted
    throw new AppError(
      'takeover_config_unsupported',
      `The config file must be an absolute path to ${basename(deps.configPath())}.`,
    )
  }

  function digestOf(file: ConfigFile, applied: Applied): string {
    return hash('sha256', JSON.stringify([file.realPath, file.text, applied.after]), 'hex')
  }

  async function prepare(
    path: string,
    wanted: ProjectionKind | undefined,
    record: TakeoverRecord | null,
  ): Promise<{ file: ConfigFile; kind: ProjectionKind; applied: Applied }> {
    const file = await readConfig(path, files)
    projector.check(file.text, path)
    const on = isOn(record)
    const found = on ? record.kind : projector.detect(file.text)
    const kind = wanted ?? found ?? (await deps.preferredKind())
    if (found !== null && found !== kind) {
      throw new AppError('takeover_conflict', 'Switch takeover off before you change how it is written.')
    }
    const applied = projector.apply(file.text, kind, await gateway.target(), on ? record : null)
    return { file, kind, applied }
  }

  // --- switching on

  async function enable(
    request: EnableRequest | { digest: null; configPath?: string; kind?: ProjectionKind },
  ): Promise<PersistOutcome> {
    await gateway.ensureListening()
    const record = await loadRecord()
    await gateway.ensureUpstream()
    const path = isOn(record) ? record.configPath : await pathFor(request.configPath)
    for (let attempt = 1; ; attempt++) {
      const prepared = await prepare(path, request.kind, record)
      const digest = digestOf(prepared.file, prepared.applied)
      if (attempt === 1 && request.digest !== null && request.digest !== digest) {
        throw new AppError('takeover_conflict', 'The config file changed since it was shown. Look at the change again.')
      }
      try {
        return await enableOnce(prepared, record)
      } catch (error) {
        if (!(error instanceof ConfigChanged) || attempt === ATTEMPTS) throw error
      }
    }
  }

  async function enableOnce(
    { file, kind, applied }: { file: ConfigFile; kind: ProjectionKind; applied: Applied },
    record: TakeoverRecord | null,
  ): Promise<PersistOutcome> {
    if (applied.splices.length === 0 && record?.enabled === true) return WHOLE
    await demandWritable(file)
    failpoints.hit('takeover.before_backup')
    const isOurs = projector.detect(file.text) !== null
    const backup = file.bytes === null || isOurs ? null : await records.keepBackup(file.bytes)
    failpoints.hit('takeover.after_backup')
    const next: TakeoverRecord = {
      schemaVersion: 1,
      enabled: record?.enabled === true,
      phase: 'enabling',
      ...(record?.resumeOnStart === true ? { resumeOnStart: true } : {}),
      configPath: file.path,
      ...backupOf(backup?.path ?? (isOurs ? record?.backupPath : undefined)),
      kind,
      originals: applied.originals.map((original) => ({ ...original })),
      addedFinalEol: applied.addedFinalEol,
      createdFile: file.bytes === null,
    }
    const outcomes = [await records.save(next)]
    try {
      failpoints.hit('takeover.after_state')
      outcomes.push(await replaceConfig(file, applied.after, files))
    } catch (error) {
      await (record === null ? records.forget() : records.save(record))
      if (backup?.isNew === true) await records.dropBackup(backup.path)
      throw error
    }
    failpoints.hit('takeover.after_rename')
    const { phase: _phase, resumeOnStart: _resume, ...done } = next
    outcomes.push(await records.save({ ...done, enabled: true, enabledAtMs: clock.nowMs() }))
    return together(outcomes)
  }

  // --- switching off

  async function disable(options: { resumeOnStart: boolean }): Promise<PersistOutcome> {
    const record = await loadRecord()
    const path = record?.configPath ?? deps.configPath()
    const backup = await records.readBackup(record?.backupPath)
    for (let attempt = 1; ; attempt++) {
      const file = await readConfig(path, files)
      projector.check(file.text, path)
      try {
        return await disableOnce(file, { record, backup, ...options })
      } catch (error) {
        if (!(error instanceof ConfigChanged) || attempt === ATTEMPTS) throw error
      }
    }
  }

  async function disableOnce(
    file: ConfigFile,
    of: { record: TakeoverRecord | null; backup: Uint8Array | null; resumeOnStart: boolean; force?: boolean },
  ): Promise<PersistOutcome> {
    const { record, backup } = of
    const written = isOn(record) ? record : null
    const removed = projector.remove(file.text, written, {
      backup: backup === null ? null : decodeConfig(backup, file.path),
      force: of.force === true,
      target: null,
    })
    const outcomes: PersistOutcome[] = []
    if (record !== null) outcomes.push(await records.save({ ...record, phase: 'disabling' }))
    failpoints.hit('takeover.after_disabling')
    if (file.bytes !== null && removed.after !== file.text) {
      await demandWritable(file)
      const isOwnFile = removed.empty && record?.createdFile === true
      outcomes.push(await replaceConfig(file, isOwnFile ? null : removed.after, files))
    }
    failpoints.hit('takeover.after_removal')
    if (record !== null) {
      const { phase: _phase, resumeOnStart: _resume, detail: _detail, ...off } = record
      const detail = removed.detail
      outcomes.push(
        await records.save({
          ...off,
          enabled: false,
          ...(of.resumeOnStart ? { resumeOnStart: true } : {}),
          ...(isKept(detail) ? { detail } : {}),
        }),
      )
    }
    return together(outcomes)
  }

  // --- repair and restore

  async function repair(): Promise<PersistOutcome> {
    const record = await loadRecord()
    const path = isOn(record) ? record.configPath : deps.configPath()
    const file = await readConfig(path, files)
    projector.check(file.text, path)
    const found = projector.detect(file.text)
    const isUnclosed = isUnclosedIn(file.text, record?.kind ?? found)
    if (!isOn(record) && (record !== null || isUnclosed)) {
      // Switched off, and something was left: that goes.
      if (found === null) return WHOLE
      return await disableOnce(file, { record, backup: null, resumeOnStart: false, force: true })
    }
    const kind = record?.kind ?? found
    if (kind === null) return WHOLE
    await gateway.ensureListening()
    const target = await gateway.target()
    const base = isUnclosed
      ? projector.remove(file.text, record, { backup: null, force: true, target }).after
      : file.text
    const applied = projector.apply(base, kind, target, record)
    await demandWritable(file)
    const next: TakeoverRecord = {
      ...(record ?? { schemaVersion: 1, createdFile: false, configPath: file.path }),
      enabled: true,
      kind,
      originals: applied.originals.map((original) => ({ ...original })),
      addedFinalEol: applied.addedFinalEol,
    }
    const outcomes = [await records.save({ ...next, phase: 'enabling' })]
    if (applied.after !== file.text) outcomes.push(await replaceConfig(file, applied.after, files))
    const { phase: _phase, detail: _detail, ...done } = next
    outcomes.push(await records.save(done))
    return together(outcomes)
  }

  function isUnclosedIn(text: string, kind: ProjectionKind | null): boolean {
    if (kind === null) return false
    const finding = projector.inspect(text, kind, null, null)
    return 'detail' in finding && finding.detail === 'marker_unclosed'
  }

  async function restoreBackup(): Promise<PersistOutcome> {
    const record = await loadRecord()
    const old = await records.readBackup(record?.backupPath)
    if (record === null || old === null) {
      throw new AppError('takeover_backup_missing', 'There is no copy of the config file from before takeover.')
    }
    const file = await readRaw(record.configPath)
    await demandWritable(file)
    if (file.bytes !== null) await records.keepBackup(file.bytes)
    const outcomes = [await records.save({ ...record, phase: 'disabling' }), await replaceConfig(file, old, files)]
    const { phase: _phase, resumeOnStart: _resume, detail: _detail, ...off } = record
    outcomes.push(await records.save({ ...off, enabled: false }))
    return together(outcomes)
  }

  /** What is no text any more may be replaced all the same. */
  async function readRaw(path: string): Promise<ConfigFile> {
    return await readConfig(path, files)
  }

  // --- start and stop

  async function recover(): Promise<void> {
    const record = await loadRecord()
    if (record === null) return
    if (record.phase !== undefined) await sweepTempFiles(dirname(record.configPath))
    if (record.phase === 'disabling') {
      await disable({ resumeOnStart: record.resumeOnStart === true })
      return
    }
    if (record.phase === 'enabling') await settleEnabling(record)
    const now = await loadRecord()
    if (now === null) return
    if (now.enabled) {
      await gateway.ensureListening()
      if ((await status()).detail === 'address_changed') await repair()
    } else if (now.resumeOnStart === true) {
      await enable({ digest: null, configPath: now.configPath, kind: now.kind })
    }
  }

  /** The rename is the moment: a file that holds the projection was switched on, any other was not. */
  async function settleEnabling(record: TakeoverRecord): Promise<void> {
    const { phase: _phase, ...rest } = record
    const file = await readConfig(record.configPath, files)
    projector.check(file.text, record.configPath)
    const isThere = projector.detect(file.text) === record.kind
    await records.save({ ...rest, enabled: isThere })
  }

  async function change(work: () => Promise<PersistOutcome>): Promise<TakeoverChange> {
    const changed = await lock.run(async () => {
      const outcome = await work()
      const now = await status()
      return {
        outcome,
        status: outcome.durable ? now : { ...now, warnings: [...now.warnings, 'not_durable' as const] },
      }
    })
    deps.onChange()
    return changed
  }

  return {
    status,
    plan: (options = {}) =>
      lock.run(async () => {
        const record = await loadRecord()
        const path = isOn(record) ? record.configPath : await pathFor(options.configPath)
        const { file, kind, applied } = await prepare(path, options.kind, record)
        await demandWritable(file)
        const warnings = [
          ...(isWorldReadable(file) ? (['config_world_readable'] as const) : []),
          ...projector.warnings(file.text, kind),
          ...(await deps.surroundings(path, kind)),
        ]
        return {
          client,
          kind,
          path,
          creates: file.bytes === null,
          hunks: hunksOf(file.text, applied.splices),
          digest: digestOf(file, applied),
          warnings,
        }
      }),
    enable: (request) => change(() => enable(request)),
    disable: () => change(() => disable({ resumeOnStart: false })),
    repair: () => change(repair),
    restoreBackup: () => change(restoreBackup),
    async start() {
      try {
        await lock.run(recover)
      } catch (error) {
        log.warn('a takeover could not be taken up again', { client, error })
      }
      deps.onChange()
    },
    async stop({ keep }) {
      if (keep) return
      await lock.run(async () => {
        const record = await records.load()
        if (record === null || record === 'unreadable' || !record.enabled) return
        await disable({ resumeOnStart: true })
      })
    },
  }
}

const WHOLE: PersistOutcome = { applied: true, durable: true }

function together(outcomes: readonly PersistOutcome[]): PersistOutcome {
  return { applied: outcomes.every(({ applied }) => applied), durable: outcomes.every(({ durable }) => durable) }
}

function backupOf(path: string | undefined): { backupPath?: string } {
  return path === undefined ? {} : { backupPath: path }
}

function isKept(detail: TakeoverDetail | null): detail is NonNullable<TakeoverRecord['detail']> {
  return (
    detail === 'provider_line_user_changed' || detail === 'block_user_changed' || detail === 'original_unrecoverable'
  )
}
