/** The simple globs of `search`: `*`, `?`, `**` and `{a,b}`. A pattern without a slash matches a file's name anywhere. */

/** Whether a path relative to the searched folder, with forward slashes, is meant by `glob`. */
export function globMatcher(glob: string): (relativePath: string) => boolean {
  const anywhere = !glob.includes('/')
  const expression = new RegExp(`^${translate(glob.replace(/^\.?\//, ''))}$`, 'u')
  return (path) => expression.test(anywhere ? path.slice(path.lastIndexOf('/') + 1) : path)
}

function translate(glob: string): string {
  let depth = 0
  return (
    glob.replace(/\*\*\/|\*+|\?|[{},]|[^*?{},]+/gu, (token) => {
      if (token === '**/') return '(?:[^/]+/)*'
      if (token === '*') return '[^/]*'
      if (token.startsWith('**')) return '.*'
      if (token === '?') return '[^/]'
      if (token === '{') {
        depth += 1
        return '(?:'
      }
      if (token === '}' && depth > 0) {
        depth -= 1
        return ')'
      }
      if (token === ',' && depth > 0) return '|'
      return token.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')
    }) + ')'.repeat(depth)
  )
}
