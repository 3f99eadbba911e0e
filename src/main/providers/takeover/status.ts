/** What a client's config file says of takeover today, beside what the record says that it should. */
import { AppError } from '../../../shared/errors.ts'
import { isWorldReadable, readConfig } from './config-file.ts'
import type { ConfigFile } from './config-file.ts'
import type { TakeoverDeps } from './ports.ts'
import type { TakeoverRecord } from './record.ts'
import type { Finding, TakeoverDetail, TakeoverState, TakeoverStatus, TakeoverWarning, Target } from './types.ts'

/** Switched on, or in the middle of a change. */
export function isOn(record: TakeoverRecord | null): record is TakeoverRecord {
  return record !== null && (record.enabled || record.phase !== undefined)
}

/** Reads the file at each call, and writes nothing. */
export function createStatusReader(
  deps: Pick<TakeoverDeps, 'projector' | 'records' | 'gateway' | 'files' | 'configPath' | 'surroundings'>,
): () => Promise<TakeoverStatus> {
  const { projector, records, gateway, files } = deps
  const { client } = projector

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
      keepLogin: record?.keepLogin === true,
      enabled: record?.enabled === true,
      listening: gateway.isListening(),
      restoreAvailable: backup !== null,
    }
  }

  /** What the file should say; null: the key cannot be read. */
  async function targetOf({ keepLogin }: TakeoverRecord): Promise<Target | null> {
    const target = await gateway.knownTarget()
    return target === null ? null : { ...target, keepLogin }
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
          : projector.inspect(file.text, kind, on ? await targetOf(record) : null, on ? record : null)
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

  return status
}
