/** What lies around a client's config file and changes what takeover means: a login, other files, a proxy. */
import { readdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { parse } from 'smol-toml'
import { readPlain } from '../../platform/index.ts'
import type { ProjectionKind, TakeoverClient, TakeoverWarning } from './types.ts'

type Environment = Readonly<Record<string, string | undefined>>

const MAX_BYTES = 1_048_576
const MAX_PROFILES = 20
const MAX_PROJECTS = 50

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
    const chosen = deps.environment()[client === 'codex' ? 'CODEX_HOME' : 'CLAUDE_CONFIG_DIR'] ?? ''
    // A relative one is fixed here: the next start, in another folder, has to find the very file.
    return resolve(chosen === '' ? join(deps.home, client === 'codex' ? '.codex' : '.claude') : chosen)
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
        if (await hasCodexProject(path)) found.push('higher_scope_overrides')
      } else {
        const settings = await readJson(managed)
        if (settings !== null) found.push('managed_settings_present')
        if (namesAddress(settings) || (await hasClaudeProject(dirname(path)))) found.push('higher_scope_overrides')
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

function namesAddress(claudeSettings: unknown): boolean {
  return isSet(asObject(asObject(claudeSettings)['env'])['ANTHROPIC_BASE_URL'])
}

/** A folder in which Claude Code was used has settings that name an address: they beat the person's own. */
async function hasClaudeProject(configDir: string): Promise<boolean> {
  // Beside the folder where that is the usual one, in it where another was chosen.
  const states = [await readJson(`${configDir}.json`), await readJson(join(configDir, '.claude.json'))]
  const folders = states.flatMap((state) => Object.keys(asObject(asObject(state)['projects'])))
  for (const folder of folders.filter(isAbsolute).slice(-MAX_PROJECTS)) {
    for (const name of ['settings.json', 'settings.local.json']) {
      if (namesAddress(await readJson(join(folder, '.claude', name)))) return true
    }
  }
  return false
}

/** The same of Codex, which reads such a file in trusted folders alone. */
async function hasCodexProject(configPath: string): Promise<boolean> {
  const trusted = Object.entries(asObject((await readToml(configPath))['projects']))
    .filter(([folder, of]) => isAbsolute(folder) && asObject(of)['trust_level'] === 'trusted')
    .slice(-MAX_PROJECTS)
  for (const [folder] of trusted) if (namesProvider(await readToml(join(folder, '.codex', 'config.toml')))) return true
  return false
}

function namesProvider(codexConfig: Readonly<Record<string, unknown>>): boolean {
  return codexConfig['model_provider'] !== undefined || codexConfig['openai_base_url'] !== undefined
}

/** Codex loads `<name>.config.toml` over its own config when it is started with that profile. */
async function hasProfileFile(codexHome: string): Promise<boolean> {
  const names = await readdir(codexHome).catch(() => [])
  const profiles = names.filter((name) => name.endsWith('.config.toml')).slice(0, MAX_PROFILES)
  for (const name of profiles) {
    if (namesProvider(await readToml(join(codexHome, name)))) return true
  }
  return false
}

async function readSmall(path: string): Promise<string | null> {
  try {
    return (await readPlain(path, MAX_BYTES)).toString('utf8')
  } catch {
    return null
  }
}

/** Empty where there is none, or one that is no TOML: of that, Codex says so itself. */
async function readToml(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return parse((await readSmall(path)) ?? '')
  } catch {
    return {}
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
