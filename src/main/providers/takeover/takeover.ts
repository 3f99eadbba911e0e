/**
 * Takeover of one client's config file, as a procedure that survives being killed anywhere: the exact old bytes are kept
 * first, then the record says what is about to happen, then the file is replaced, then the record says that it was.
 */
import { hash } from 'node:crypto'
import { basename, isAbsolute } from 'node:path'
import { AppError } from '../../../shared/errors.ts'
import type { PersistOutcome } from '../../../shared/vocabulary.ts'
import { createMutex } from '../mutex.ts'
import {
  ConfigChanged,
  demandTakable,
  demandWritable,
  isWorldReadable,
  missingFolders,
  readBytes,
  readConfig,
  removeEmptyFolders,
  replaceConfig,
  sweepBeside,
} from './config-file.ts'
import type { ConfigFile } from './config-file.ts'
import { hunksOf } from './hunks.ts'
import { isKept, switchedOff } from './record.ts'
import type { TakeoverRecord } from './record.ts'
import type { Takeover, TakeoverDeps, Wanted } from './ports.ts'
import { leadsElsewhere, offButUnrecorded } from './refusals.ts'
import { createStatusReader, isOn } from './status.ts'
import { decodeConfig } from './text.ts'
import type { Applied, ProjectionKind, TakeoverChange } from './types.ts'

const ATTEMPTS = 3

/** A change as it would be written. */
interface Prepared {
  file: ConfigFile
  kind: ProjectionKind
  keepLogin: boolean
  applied: Applied
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

  const status = createStatusReader(deps)

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

  async function prepare(path: string, wanted: Wanted, record: TakeoverRecord | null): Promise<Prepared> {
    const file = await readConfig(path, files)
    const on = isOn(record)
    if (!on) demandTakable(file)
    projector.check(file.text, path)
    const found = on ? record.kind : projector.detect(file.text)
    const kind = wanted.kind ?? found ?? (await deps.preferredKind())
    const keepLogin = kind === 'provider_table' && (wanted.keepLogin ?? (on && record.keepLogin === true))
    if (found !== null && found !== kind) {
      if (!on) throw leadsElsewhere(path)
      throw new AppError('takeover_conflict', 'Switch takeover off before you change how it is written.')
    }
    const target = { ...(await gateway.target()), keepLogin }
    const applied = projector.apply(file.text, kind, target, on ? record : null)
    // What stood there before it, only who wrote it knows.
    if (found !== null && !on && applied.splices.length > 0) throw leadsElsewhere(path)
    return { file, kind, keepLogin, applied }
  }

  // --- switching on

  /** `digest` null: nobody was shown anything, it is taken up again. */
  async function enable(request: Wanted & { digest: string | null }): Promise<PersistOutcome> {
    await gateway.ensureListening()
    const record = await loadRecord()
    await gateway.ensureUpstream()
    const path = isOn(record) ? record.configPath : await pathFor(request.configPath)
    for (let attempt = 1; ; attempt++) {
      const prepared = await prepare(path, request, record)
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
    { file, kind, keepLogin, applied }: Prepared,
    record: TakeoverRecord | null,
  ): Promise<PersistOutcome> {
    if (applied.splices.length === 0 && record?.enabled === true) return WHOLE
    await demandWritable(file)
    failpoints.hit('takeover.before_backup')
    const isOurs = projector.detect(file.text) !== null
    const backup = file.bytes === null || isOurs ? null : await records.keepBackup(file.bytes)
    failpoints.hit('takeover.after_backup')
    const backupPath = backup?.path ?? (isOurs ? record?.backupPath : undefined)
    const next: TakeoverRecord = {
      schemaVersion: 1,
      enabled: record?.enabled === true,
      phase: 'enabling',
      ...(record?.resumeOnStart === true ? { resumeOnStart: true } : {}),
      configPath: file.path,
      ...(backupPath === undefined ? {} : { backupPath }),
      kind,
      ...(keepLogin ? { keepLogin } : {}),
      originals: applied.originals.map((original) => ({ ...original })),
      addedFinalEol: applied.addedFinalEol,
      createdFile: file.bytes === null || (isOurs && record?.createdFile === true),
      ...(await foldersOf(file, record)),
    }
    let outcomes: PersistOutcome[]
    try {
      outcomes = await announced(record, next, () => {
        failpoints.hit('takeover.after_state')
        return replaceConfig(file, applied.after, files)
      })
    } catch (error) {
      if (backup?.isNew === true) await records.dropBackup(backup.path)
      await removeEmptyFolders(next.createdFolders ?? [])
      throw error
    }
    failpoints.hit('takeover.after_rename')
    const { phase: _phase, resumeOnStart: _resume, ...done } = next
    outcomes.push(await records.save({ ...done, enabled: true, enabledAtMs: clock.nowMs() }))
    return together(outcomes)
  }

  /** Those that this write makes, and those that an earlier one did. */
  async function foldersOf(
    file: ConfigFile,
    record: TakeoverRecord | null,
  ): Promise<Pick<TakeoverRecord, 'createdFolders'>> {
    const made = new Set([...(await missingFolders(file)), ...((isOn(record) ? record.createdFolders : null) ?? [])])
    return made.size === 0 ? {} : { createdFolders: [...made] }
  }

  /** The record says first what is about to happen; where the file cannot be changed, it is again as it was. */
  async function announced(
    before: TakeoverRecord | null,
    next: TakeoverRecord,
    work: () => Promise<PersistOutcome>,
  ): Promise<PersistOutcome[]> {
    return await carriedOut(await records.save(next), before, work)
  }

  /** As `announced`, but where the record cannot be written, the file is changed all the same: it is not to wait for that. */
  async function announcedAtBest(
    before: TakeoverRecord,
    next: TakeoverRecord,
    work: () => Promise<PersistOutcome>,
  ): Promise<PersistOutcome[]> {
    const said = await records.save(next).catch((error: unknown) => {
      log.warn('what becomes of a takeover could not be recorded first', { client, error })
      return null
    })
    return said === null ? [await work()] : await carriedOut(said, before, work)
  }

  async function carriedOut(
    said: PersistOutcome,
    before: TakeoverRecord | null,
    work: () => Promise<PersistOutcome>,
  ): Promise<PersistOutcome[]> {
    try {
      return [said, await work()]
    } catch (error) {
      await (before === null ? records.forget() : records.save(before)).catch((again: unknown) =>
        log.warn('the record of a takeover could not be put back', { client, error: again }),
      )
      throw error
    }
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
    const old = backup === null ? null : decodeConfig(backup, file.path)
    const removed = projector.remove(file.text, written, {
      backup: old,
      force: of.force === true,
      target: null,
    })
    const changes = file.bytes !== null && removed.after !== file.text
    if (changes) await demandWritable(file)
    const isOwnFile = removed.empty && record?.createdFile === true
    const cut = async (): Promise<PersistOutcome> => {
      failpoints.hit('takeover.after_disabling')
      const outcome = changes ? await replaceConfig(file, isOwnFile ? null : removed.after, files) : WHOLE
      await removeEmptyFolders(record?.createdFolders ?? [])
      return outcome
    }
    // Taking our lines out needs nothing of the data folder: one that is full must not keep the client at a dead gateway.
    const outcomes =
      record === null ? [await cut()] : await announcedAtBest(record, { ...record, phase: 'disabling' }, cut)
    failpoints.hit('takeover.after_removal')
    if (record !== null) {
      // Given back earlier, which could not be recorded: there is nothing in it that the person changed.
      const detail = file.text === old ? null : removed.detail
      const off: TakeoverRecord = {
        ...switchedOff(record),
        ...(of.resumeOnStart ? { resumeOnStart: true } : {}),
        ...(isKept(detail) ? { detail } : {}),
      }
      outcomes.push(
        await records.save(off).catch((error: unknown) => {
          throw written === null ? error : offButUnrecorded(file.path, error)
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
    const target = { ...(await gateway.target()), keepLogin: record?.keepLogin }
    const base = isUnclosed
      ? projector.remove(file.text, record, { backup: null, force: true, target }).after
      : file.text
    const applied = projector.apply(base, kind, target, record)
    await demandWritable(file)
    const next: TakeoverRecord = {
      ...(record ?? { schemaVersion: 1, configPath: file.path }),
      createdFile: file.bytes === null || record?.createdFile === true,
      ...(await foldersOf(file, record)),
      enabled: true,
      kind,
      originals: applied.originals.map((original) => ({ ...original })),
      addedFinalEol: applied.addedFinalEol,
    }
    const outcomes = await announced(record, { ...next, phase: 'enabling' }, async () =>
      applied.after === file.text ? WHOLE : await replaceConfig(file, applied.after, files),
    )
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
    // Whatever its bytes became.
    const file = await readBytes(record.configPath, files)
    await demandWritable(file)
    if (file.bytes !== null) await records.keepBackup(file.bytes, record.backupPath)
    const outcomes = await announced(record, { ...record, phase: 'disabling' }, () => replaceConfig(file, old, files))
    outcomes.push(await records.save(switchedOff(record)))
    return together(outcomes)
  }

  // --- start and stop

  async function recover(): Promise<void> {
    const record = await loadRecord()
    if (record === null) return
    if (record.phase !== undefined) await sweepBeside(record.configPath)
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
      await enable({ digest: null, configPath: now.configPath, kind: now.kind, keepLogin: now.keepLogin })
    }
  }

  /** The rename is the moment: a file that holds the projection was switched on, any other was not. */
  async function settleEnabling(record: TakeoverRecord): Promise<void> {
    const { phase: _phase, ...rest } = record
    const file = await readConfig(record.configPath, files)
    projector.check(file.text, record.configPath)
    const isThere = projector.detect(file.text) === record.kind
    if (!isThere) await removeEmptyFolders(record.createdFolders ?? [])
    await records.save({ ...rest, enabled: isThere, createdFolders: isThere ? rest.createdFolders : undefined })
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
    plan: (wanted = {}) =>
      lock.run(async () => {
        const record = await loadRecord()
        const path = isOn(record) ? record.configPath : await pathFor(wanted.configPath)
        const { file, kind, keepLogin, applied } = await prepare(path, wanted, record)
        await demandWritable(file)
        const warnings = [
          ...(isWorldReadable(file) ? (['config_world_readable'] as const) : []),
          ...projector.warnings(file.text, kind),
          ...(await deps.surroundings(path, kind)),
        ]
        return {
          client,
          kind,
          keepLogin,
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
