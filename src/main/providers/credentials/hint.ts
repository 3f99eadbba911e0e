const BULLETS = '\u2022'.repeat(8)
const PREFIXES = ['sk-ant-', 'sk-proj-', 'sk-or-', 'sk-'] as const

/** What a window may show of a key: bullets, the last 2 from 12 characters on, and both ends from 24 on. */
export function credentialHint(key: string): string {
  if (key.length < 12) return BULLETS
  if (key.length < 24) return `${BULLETS}${key.slice(-2)}`
  const prefix = PREFIXES.find((candidate) => key.startsWith(candidate)) ?? key.slice(0, 2)
  return `${prefix}${BULLETS}${key.slice(-4)}`
}

/** 8 to 2,048 printable ASCII characters without white space: safe in a header, and a hint can never be saved as a key. */
export function isCredential(key: string): boolean {
  return /^[\u0021-\u007e]{8,2048}$/.test(key)
}
