/** What of a project's own an agent would read once the project is trusted, as it is on disk now. */
import { dirname, join, relative } from 'node:path'
import type { ProjectEffect, ProjectFinding } from '../../../shared/trust.ts'
import { claudeEffects, codexEffects, hookFileEffects, mcpEffects } from './effects.ts'
import { isWithin } from './project-root.ts'
import type { Project } from './project-root.ts'
import { namesInside, readInside } from './read-inside.ts'

const MAX_FINDINGS = 64
const MAX_LEVELS = 32
const MAX_NAMES = 20

interface Candidate extends Pick<ProjectFinding, 'agent' | 'kind'> {
  path: string
  /** What its text would do; absent: its text is for the model alone. */
  read?: (text: string) => ProjectEffect[] | null
  isFolder?: true
}

const instructions = (path: string): Candidate => ({ path, agent: 'claude', kind: 'instructions' })
const folder = (path: string, agent: Candidate['agent'], kind: Candidate['kind']): Candidate => ({
  path,
  agent,
  kind,
  isFolder: true,
})

/** In the folder itself alone. */
const SETTINGS: readonly Candidate[] = ['.claude/settings.json', '.claude/settings.local.json'].map((path) => ({
  path,
  agent: 'claude',
  kind: 'settings',
  read: claudeEffects,
}))
/** From the folder up to the root of the file system: Claude Code stops at no repository. */
const EVERYWHERE: readonly Candidate[] = [
  { path: '.mcp.json', agent: 'claude', kind: 'mcp', read: mcpEffects },
  ...['CLAUDE.md', 'CLAUDE.local.md', '.claude/CLAUDE.md'].map(instructions),
  folder('.claude/rules', 'claude', 'instructions'),
]
/** From the folder up to the project's root. */
const INSIDE: readonly Candidate[] = [
  ...['commands', 'agents', 'skills'].map((name) => folder(`.claude/${name}`, 'claude', 'extras')),
  { path: '.codex/config.toml', agent: 'codex', kind: 'settings', read: codexEffects },
  { path: '.codex/hooks.json', agent: 'codex', kind: 'settings', read: hookFileEffects },
  ...['rules', 'agents', 'skills'].map((name) => folder(`.codex/${name}`, 'codex', 'extras')),
]

/** Each file opened is one of a fixed list of names, from the folder up. `home`: what lies there is the person's own. */
export async function findingsIn(
  project: Project,
  home: string | null,
): Promise<{ findings: ProjectFinding[]; more: boolean }> {
  const findings: ProjectFinding[] = []
  for (const at of levels(project.folder)) {
    if (at === home) continue
    const inside = isWithin(at, project.root)
    const candidates = [...(at === project.folder ? SETTINGS : []), ...EVERYWHERE, ...(inside ? INSIDE : [])]
    for (const candidate of candidates) {
      const found = await look(candidate, at, inside ? project.root : at)
      if (found === null) continue
      if (findings.length === MAX_FINDINGS) return { findings, more: true }
      findings.push({ ...found, path: relative(project.root, join(at, candidate.path)) })
    }
  }
  return { findings, more: false }
}

/** The folder itself first, then each one above it. */
function levels(folder: string): string[] {
  const all = [folder]
  for (let at = dirname(folder); all.length < MAX_LEVELS && at !== all.at(-1); at = dirname(at)) all.push(at)
  return all
}

async function look(candidate: Candidate, at: string, root: string): Promise<Omit<ProjectFinding, 'path'> | null> {
  const { path, agent, kind, read, isFolder } = candidate
  const says = (effects: ProjectEffect[], unread: ProjectFinding['unread']): Omit<ProjectFinding, 'path'> => ({
    agent,
    kind,
    effects,
    unread,
  })
  if (isFolder === true) {
    const listed = await namesInside(join(at, path), root, MAX_NAMES)
    if (listed === null) return null
    if ('unread' in listed) return says([], listed.unread)
    const { names, more } = listed
    return says([{ what: 'other', names, ...(more > 0 ? { more } : {}) }], null)
  }
  const file = await readInside(join(at, path), root)
  if (file === null) return null
  if ('unread' in file) return says([], file.unread)
  if (read === undefined) return says([], null)
  const effects = read(file.text)
  return effects === null ? says([], 'malformed') : says(effects, null)
}
