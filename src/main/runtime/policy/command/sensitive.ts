/** Paths whose change outlives the command: system folders, keys, start files, autostart, hooks. */
import { posix } from 'node:path'

const SYSTEM = /^\/(?:etc|boot|usr|bin|sbin|lib[^/]*|system|library|private\/etc)(?:\/|$)/
const KEY_FOLDERS = new Set(['.ssh', '.gnupg', '.aws', 'launchagents', 'launchdaemons', 'autostart'])
const HOME_FILES = new Set(['.gitconfig', '.npmrc'])
const HOME = /^(?:~|\/root|\/(?:home|users)\/[^/]+)$/
const START_FILES = new Set([
  '.profile',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.xprofile',
  '.xinitrc',
  '.xsession',
  'config.fish',
])

/** Writing here is high. A leading `..` chain is read as if it reached the root: what lies above is not known. */
export function isSensitivePath(text: string): boolean {
  const path = posix.normalize(homeAsTilde(text).toLowerCase())
  const climbed = path.replace(/^(?:\.\.\/)+/, '/')
  if (SYSTEM.test(climbed)) return true
  const segments = path.split('/').filter((segment) => segment !== '')
  const last = segments.at(-1) ?? ''
  if (segments.some((segment) => KEY_FOLDERS.has(segment))) return true
  if (START_FILES.has(last)) return true
  if (HOME_FILES.has(last) && HOME.test(path.slice(0, -last.length - 1))) return true
  return segments.some((segment, at) => segment === '.git' && /^(?:hooks|config)$/.test(segments[at + 1] ?? ''))
}

/** What agents are started with: hooks, servers and permissions in it count from their next look on. */
export function steersAgents(path: string): boolean {
  return /(?:^|\/)(?:\.(?:claude|codex)\/|\.mcp\.json$)/i.test(posix.normalize(path))
}

/** `$HOME/x` and `${HOME}/x` mean `~/x`. */
export function homeAsTilde(text: string): string {
  return text.replace(/^\$(?:HOME|\{HOME\})(?=\/|$)/, '~')
}
