/** What the person's own Codex rules allow: Codex runs it unasked and outside of its sandbox, whatever the mode. */
import { join } from 'node:path'
import { namesInside, readInside } from './trust/index.ts'

const MAX_FILES = 64
const MAX_RULES = 100
const MAX_CHARS = 120
/** What is longer is not looked at: so much is no rule of a person's, and looking would take its time. */
const MAX_LINE = 1_024
const MAX_TEXT = 131_072

/** The folder is the person's own: Codex follows its links, too. */
const ANYWHERE = '/'

/** A string, or a list of strings and lists, as Starlark writes them. */
const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
const RULE = new RegExp(String.raw`\bprefix_rule\s*\(((?:${STRING}|[^"'()])*)\)`, 'g')
const PATTERN = new RegExp(String.raw`\bpattern\s*=\s*\[((?:${STRING}|[^"'\[\]]|\[(?:${STRING}|[^"'\[\]])*\])*)\]`)
const DECISION = /\bdecision\s*=\s*["'](\w+)["']/
const WORDS = new RegExp(String.raw`\[((?:${STRING}|[^"'\[\]])*)\]|(${STRING})`, 'g')

/** The beginnings of commands that run unasked, such as `git status`; `a|b` stands for either. Nothing is told of what cannot be read. */
export async function codexRules(codexHome: string): Promise<string[]> {
  const folder = join(codexHome, 'rules')
  const listed = await namesInside(folder, ANYWHERE, MAX_FILES)
  if (listed === null || 'unread' in listed) return []
  const allowed = new Set<string>()
  for (const name of listed.names.filter((each) => each.endsWith('.rules'))) {
    const file = await readInside(join(folder, name), ANYWHERE)
    if (file === null || 'unread' in file) continue
    for (const rule of allowedBy(file.text)) allowed.add(rule)
  }
  return [...allowed].slice(0, MAX_RULES)
}

function allowedBy(text: string): string[] {
  const lines = text
    .slice(0, MAX_TEXT)
    .split('\n')
    .filter((line) => line.length <= MAX_LINE)
  const code = lines.join('\n').replaceAll(new RegExp(String.raw`(${STRING})|#[^\n]*`, 'g'), '$1')
  return [...code.matchAll(RULE)].flatMap(([, body = '']) => {
    const decision = DECISION.exec(body)?.[1] ?? 'allow'
    const pattern = PATTERN.exec(body)?.[1]
    if (decision !== 'allow' || pattern === undefined) return []
    const words = [...pattern.matchAll(WORDS)].map(([, either, word = '']) =>
      either === undefined
        ? unquoted(word)
        : [...either.matchAll(new RegExp(STRING, 'g'))].map(([one]) => unquoted(one)).join('|'),
    )
    return words.length === 0 ? [] : [words.join(' ').slice(0, MAX_CHARS)]
  })
}

const unquoted = (literal: string): string => literal.slice(1, -1).replaceAll(/\\(.)/g, '$1')
