import { SETTINGS } from '../../../shared/settings.ts'
import type { SettingKey, SettingValues } from '../../../shared/settings.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useChange } from '../../bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'

export interface Setting<Key extends SettingKey> {
  value: SettingValues[Key]
  about: string
  pending: boolean
  error: AppError | null
  /** Saved, but not proven to survive a power failure. */
  frail: boolean
  set: (value: SettingValues[Key]) => void
}

/** One setting: what the host holds, and the way to change it. No guess: the topic tells when it changed. */
export function useSetting<Key extends SettingKey>(key: Key): Setting<Key> {
  const held = useTopic('settings', (state) => state.value[key])
  const change = useChange('settings.set')
  const { schema, about } = SETTINGS[key]
  const parsed = schema.safeParse(held)
  return {
    // Parsed by this very key's schema.
    value: (parsed.success ? parsed.data : SETTINGS[key].default) as SettingValues[Key],
    about,
    pending: change.isPending,
    error: change.error,
    frail: change.data?.durable === false,
    set: (value) => change.mutate({ key, value }),
  }
}

/** Whether the setting may have this value. */
export function mayBe(key: SettingKey, value: unknown): boolean {
  return SETTINGS[key].schema.safeParse(value).success
}
