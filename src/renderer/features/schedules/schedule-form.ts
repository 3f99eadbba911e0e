import type { ScheduleView } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'

export type Preset = keyof typeof strings.schedules.presets

/** What a preset is at first; `custom` keeps what there is. */
export const PRESET_LINES: Readonly<Record<Exclude<Preset, 'custom'>, string>> = {
  hourly: '0 * * * *',
  daily: '0 8 * * *',
  weekdays: '0 8 * * 1-5',
  weekly: '0 8 * * 1',
  monthly: '0 8 1 * *',
}

export type ScheduleForm = Pick<
  ScheduleView,
  'name' | 'prompt' | 'agentId' | 'workDir' | 'cron' | 'timeZone' | 'mode' | 'choice' | 'catchUp' | 'deliverTo'
>

export type ScheduleField = 'name' | 'prompt' | 'workDir'

export function formOf(schedule: ScheduleView | null): ScheduleForm {
  if (schedule !== null) {
    const { name, prompt, agentId, workDir, cron, timeZone, mode, choice, catchUp, deliverTo } = schedule
    return { name, prompt, agentId, workDir, cron, timeZone, mode, choice, catchUp, deliverTo }
  }
  return {
    name: '',
    prompt: '',
    agentId: 'builtin',
    workDir: '',
    cron: PRESET_LINES.weekdays,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    mode: 'agent',
    choice: null,
    catchUp: false,
    deliverTo: [],
  }
}

export function presetOf(cron: string): Preset {
  const presets = Object.keys(PRESET_LINES) as (keyof typeof PRESET_LINES)[]
  return presets.find((preset) => PRESET_LINES[preset] === cron) ?? 'custom'
}

/** What is missing, by its field. */
export function wrongIn({ name, prompt, workDir }: ScheduleForm): Partial<Record<ScheduleField, string>> {
  const { schedules } = strings
  return {
    ...(name.trim() === '' ? { name: schedules.nameMissing } : {}),
    ...(prompt.trim() === '' ? { prompt: schedules.promptMissing } : {}),
    ...(workDir.trim() === '' ? { workDir: schedules.folderMissing } : {}),
  }
}
