/** The path with its middle left out, at most `max` characters. Beginning and end are what people know it by. */
export function shortenMiddle(path: string, max = 60): string {
  if (path.length <= max) return path
  const end = Math.ceil((max - 1) * 0.65)
  return `${path.slice(0, max - 1 - end)}…${path.slice(path.length - end)}`
}

/** The last part of a path of either system. */
export function baseName(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '')
  return parts.at(-1) ?? path
}

/** Relative to the folder where it lies below it. */
export function relativeTo(path: string, folder: string): string {
  const prefix = folder.endsWith('/') ? folder : `${folder}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : path
}
