/** The code of an error of the operating system (`ENOENT`), or '' when it is none. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
