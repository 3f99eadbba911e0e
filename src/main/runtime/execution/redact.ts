import { clip } from '../events/cut.ts'

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g, '[secret]'],
  [/\bBearer\s+[^\s"',;]+/gi, 'Bearer [secret]'],
  [
    /((?:api[-_ ]?key|authorization|access[-_ ]?token|refresh[-_ ]?token|password|secret)["']?\s*[:=]\s*)(?!Bearer\b)(?:(?:basic|digest|token|negotiate|apikey)\s+[^\s"',;&]+|"[^"]*"|'[^']*'|[^\s"',;&]+)/gi,
    '$1[secret]',
  ],
  [/\b(?:sk-|ghp_|github_pat_|xox[a-z]-|AKIA)[\w-]{6,}/g, '[secret]'],
  [/\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*/g, '[secret]'],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/:@]*:[^\s/@]+@/gi, '$1[secret]@'],
]

/** Blanks what looks like a credential. The registered secrets are blanked by whoever knows them. */
export function redactPatterns(text: string): string {
  return PATTERNS.reduce((blanked, [pattern, by]) => blanked.replace(pattern, by), text)
}

/** A failure's text as it may be stored: blanked first and cut afterwards, so that no cut leaves half a secret. */
export function safeText(text: string, limitBytes: number, registered: (text: string) => string): string {
  return clip(redactPatterns(registered(text)), limitBytes)
}
