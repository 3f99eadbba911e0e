/** Git's own settings files, as far as their names and values are needed. */

export interface GitSetting {
  /** `section.key` or `section.subsection.key`, all lower case. */
  name: string
  /** Null: quoted, escaped or with a comment in it, so that its exact text is not told here. */
  value: string | null
}

const HEADER = /^\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$/s
const ENTRY = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/s

/** Null: a line is in a form that is not known here, so that it could say anything. */
export function settingsOf(text: string): GitSetting[] | null {
  const settings: GitSetting[] = []
  let section = ''
  let open = ''
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    let rest = open + line.trim()
    open = ''
    if (rest === '' || /^[#;]/.test(rest)) continue
    if (/(?:^|[^\\])(?:\\\\)*\\$/.test(rest)) {
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
    settings.push({ name: `${section}.${key.toLowerCase()}`, value: /["\\#;]/.test(value) ? null : value.trim() })
  }
  return open === '' ? settings : null
}
