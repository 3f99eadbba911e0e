/** Git's own settings files, as far as their names and values are needed. */

export interface GitSetting {
  /** `section.key` or `section.subsection.key`, all lower case. */
  name: string
  /** Null: quoted, escaped, over several lines, with a comment or an odd character in it: its exact text is not told here. */
  value: string | null
}

// Space is what Git takes for it: fewer characters than `\s` and `trim` do.
const HEADER = /^\[[ \t]*([\w.-]+)(?:[ \t]+"((?:[^"\\]|\\.)*)")?[ \t]*\][ \t]*(.*)$/s
const ENTRY = /^([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?$/s
const SPACE = ' \t\r'
/** Inside of a value Git may change a tab, ends it at a NUL, and reads bytes where this reads letters. */
const UNTOLD = /["\\#;\t\r\0\uFFFD]/

/** Null: a line is in a form that is not known here, so that it could say anything. */
export function settingsOf(text: string): GitSetting[] | null {
  const settings: GitSetting[] = []
  let section = ''
  let open = ''
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const isContinued = open !== ''
    let rest = open + withoutOuterSpace(line)
    open = ''
    if (rest === '' || /^[#;]/.test(rest)) continue
    if (goesOn(rest)) {
      // Behind a comment's sign it would end the line all the same.
      if (/[#;]/.test(rest)) return null
      open = rest.slice(0, -1)
      continue
    }
    const [header, name, sub, behind = ''] = HEADER.exec(rest) ?? []
    if (header !== undefined) {
      section = (sub === undefined ? `${name}` : `${name}.${sub}`).toLowerCase()
      rest = behind
      if (rest === '' || /^[#;]/.test(rest)) continue
    }
    const [entry, key = '', value = ''] = ENTRY.exec(rest) ?? []
    if (entry === undefined || section === '') return null
    const isUntold = isContinued || UNTOLD.test(value)
    settings.push({ name: `${section}.${key.toLowerCase()}`, value: isUntold ? null : value })
  }
  return open === '' ? settings : null
}

function withoutOuterSpace(line: string): string {
  let from = 0
  let to = line.length
  while (from < to && SPACE.includes(line.charAt(from))) from += 1
  while (to > from && SPACE.includes(line.charAt(to - 1))) to -= 1
  return line.slice(from, to)
}

/** Its last character is a backslash that no other one escapes. */
function goesOn(line: string): boolean {
  let from = line.length
  while (line.charAt(from - 1) === '\\') from -= 1
  return (line.length - from) % 2 === 1
}
