/** What the exit codes of every command tell; the usage text names them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, denied: 3, interrupted: 130 } as const
