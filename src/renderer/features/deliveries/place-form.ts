import type { ProcedureInput, TargetView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'

export interface PlaceForm {
  kind: TargetView['kind']
  name: string
  enabled: boolean
  runs: TargetView['runs']
  /** Empty: what is stored stays. */
  url: string
  token: string
  dropToken: boolean
  header: string
  folder: string
}

export type PlaceField = 'name' | 'url' | 'folder'

export function formOf(place: TargetView | null): PlaceForm {
  return {
    kind: place?.kind ?? 'webhook',
    name: place?.name ?? '',
    enabled: place?.enabled ?? true,
    runs: place?.runs ?? 'all',
    url: '',
    token: '',
    dropToken: false,
    header: place?.idempotencyHeader ?? '',
    folder: place?.folder ?? '',
  }
}

/** What is missing, by its field. */
export function wrongIn(form: PlaceForm, stored: boolean): Partial<Record<PlaceField, string>> {
  const { deliveries } = strings
  return {
    ...(form.name.trim() === '' ? { name: deliveries.nameMissing } : {}),
    ...(form.kind === 'webhook' && form.url.trim() === '' && !stored ? { url: deliveries.urlMissing } : {}),
    ...(form.kind === 'file_drop' && form.folder.trim() === '' ? { folder: deliveries.folderMissing } : {}),
  }
}

/** What the host is asked to keep. A field that was left empty is not sent: what is stored stays. */
export function targetOf(form: PlaceForm): ProcedureInput<'deliveries.targets.save'>['target'] {
  const common = { name: form.name.trim(), enabled: form.enabled, runs: form.runs }
  switch (form.kind) {
    case 'webhook':
      return {
        ...common,
        kind: 'webhook',
        ...(form.url.trim() === '' ? {} : { url: form.url.trim() }),
        ...(form.dropToken ? { token: null } : form.token === '' ? {} : { token: form.token }),
        idempotencyHeader: form.header.trim() === '' ? null : form.header.trim(),
      }
    case 'file_drop':
      return { ...common, kind: 'file_drop', folder: form.folder.trim() }
    default:
      return { ...common, kind: 'os_notification' }
  }
}
