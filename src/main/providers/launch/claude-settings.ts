/**
 * Claude Code takes nothing from its settings that would move its requests while Wheelhouse provides for it, but for one
 * variable: a socket of one's own still wins over the Router's address. Such a launch is refused, never rerouted.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import { readPlain } from '../../platform/index.ts'
import type { LaunchRequest } from '../types.ts'

const MAX_BYTES = 1_048_576
const Settings = z.looseObject({ env: z.looseObject({ ANTHROPIC_UNIX_SOCKET: z.unknown() }) })

/** The settings files that this launch will load: the person's own, and those of the folder. */
export function claudeSettings({ inherited, settingsFiles = [] }: LaunchRequest, home: string): readonly string[] {
  const folder = inherited['CLAUDE_CONFIG_DIR'] ?? join(inherited['HOME'] ?? home, '.claude')
  return [join(folder, 'settings.json'), ...settingsFiles]
}

/** @throws AppError `model_profile_unsupported`, with the file as its detail. */
export async function refuseUnixSocket(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const settings = Settings.safeParse(await readSettings(file))
    if (!settings.success || settings.data.env.ANTHROPIC_UNIX_SOCKET === undefined) continue
    throw new AppError(
      'model_profile_unsupported',
      'Claude Code would talk to a socket that its settings name, around Wheelhouse. Remove ANTHROPIC_UNIX_SOCKET there.',
      { detail: file },
    )
  }
}

/** What is not there, too large or no JSON is nothing: Claude Code does not read it either. */
async function readSettings(path: string): Promise<unknown> {
  try {
    const bytes = await readPlain(path, MAX_BYTES)
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    return null
  }
}
