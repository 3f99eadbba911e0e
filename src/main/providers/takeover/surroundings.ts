/** What lies around a client's config file and changes what takeover means: a login, other files, a proxy. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse } from 'smol-toml'
import type { ProjectionKind, TakeoverClient, TakeoverWarning } from './types.ts'

type Environment = Readonly<Record<string, string | undefined>>

const MAX_BYTES = 1_048_576
const MAX_PROFILES = 20

export interface Surroundings {
  configPath(client: TakeoverClient): string
  /** `base_url` where nobody is signed in to Codex: threads stay listed. Else the form that no login follows. */
  preferredKind(client: TakeoverClient): Promise<ProjectionKind>
  warnings(client: TakeoverClient, path: string, kind: ProjectionKind): Promise<readonly TakeoverWarning[]>
}

export function createSurroundings(deps: {
  environment: () => Environment
  home: string
  platform: NodeJS.Platform
  /** Where the machine's owner puts settings that beat a person's. */
  managedSettings?: string | undefined
}): Surroundings {
  const managed = deps.managedSettings ?? managedPath(deps.platform)

  function folder(client: TakeoverClient): string {
    const chosen = deps.environment()[client === 'codex' ? 'CODEX_HOME' : 'CLAUDE_CONFIG_DIR']
    return chosen !== undefined && chosen !== '' ? chosen : join(deps.home, client === 'codex' ? '.codex' : '.claude')
  }

  async function hasLogin(codexHome: string): Promise<boolean> {
    const login = asObject(await readJson(join(codexHome, 'auth.json')))
    return isSet(login['OPENAI_API_KEY']) || isSet(login['tokens'])
  }

  return {
    configPath: (client) => join(folder(client), client === 'codex' ? 'config.toml' : 'settings.json'),
    async preferredKind(client) {
      if (client === 'claude') return 'env'
      return (await hasLogin(folder(client))) ? 'provider_table' : 'base_url'
    },
    async warnings(client, path, kind) {
      const found: TakeoverWarning[] = []
      if (client === 'codex') {
        if (kind === 'provider_table') found.push('threads_hide')
        else if (await hasLogin(dirname(path))) found.push('login_goes_to_the_port')
        if (await hasProfileFile(dirname(path))) found.push('profile_overrides_provider')
      } else {
        const settings = await readJson(managed)
        if (settings !== null) found.push('managed_settings_present')
        if (isSet(asObject(asObject(settings)['env'])['ANTHROPIC_BASE_URL'])) found.push('higher_scope_overrides')
      }
      if (proxyTakesLoopback(deps.environment())) found.push('system_proxy_may_capture_loopback')
      return found
    },
  }
}

function managedPath(platform: NodeJS.Platform): string {
  return platform === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json'
}

function proxyTakesLoopback(env: Environment): boolean {
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  if (!names.some((name) => (env[name] ?? '') !== '')) return false
  const except = new Set(`${env['NO_PROXY'] ?? ''},${env['no_proxy'] ?? ''}`.split(',').map((entry) => entry.trim()))
  return !except.has('127.0.0.1') && !except.has('*')
}

/** Codex loads `<name>.config.toml` over its own config when it is started with that profile. */
async function hasProfileFile(codexHome: string): Promise<boolean> {
  const names = await readdir(codexHome).catch(() => [])
  const profiles = names.filter((name) => name.endsWith('.config.toml')).slice(0, MAX_PROFILES)
  for (const name of profiles) {
    const text = await readSmall(join(codexHome, name))
    try {
      const value = parse(text ?? '')
      if (value['model_provider'] !== undefined || value['openai_base_url'] !== undefined) return true
    } catch {
      // Codex says so itself.
    }
  }
  return false
}

async function readSmall(path: string): Promise<string | null> {
  try {
    const found = await stat(path)
    return found.isFile() && found.size <= MAX_BYTES ? await readFile(path, 'utf8') : null
  } catch {
    return null
  }
}

async function readJson(path: string): Promise<unknown> {
  const text = await readSmall(path)
  if (text === null) return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}
