const MAX_BYTES = 255
const NAMELESS = 'attachment'

/**
 * The last part of a path as the name of a file: control characters become `_`, at most 255 bytes, whole characters. What
 * names nothing (empty, `.`, `..`) is `attachment`.
 */
export function cleanFilename(hint: string | undefined): string {
  const last = (hint ?? '').toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const name = last.replaceAll(/\p{Cc}/gu, '_').trim()
  if (name === '' || name === '.' || name === '..') return NAMELESS
  const { stem, extension } = splitName(name)
  return fit(stem, Buffer.byteLength(extension) > 32 ? '' : extension)
}

/** The name with one of `extensions`: its own where that is among them, else the first. */
export function withExtension(name: string, extensions: readonly string[]): string {
  const { stem, extension } = splitName(name)
  if (extensions.includes(extension.slice(1).toLowerCase())) return name
  return fit(stem, `.${extensions[0] ?? 'bin'}`)
}

function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? { stem: name, extension: '' } : { stem: name.slice(0, dot), extension: name.slice(dot) }
}

function fit(stem: string, extension: string): string {
  const room = MAX_BYTES - Buffer.byteLength(extension)
  let bytes = 0
  let fitted = ''
  for (const character of stem) {
    bytes += Buffer.byteLength(character)
    if (bytes > room) break
    fitted += character
  }
  return fitted + extension
}
