/** Config files as people and tools write them: every form of TOML and JSON that may stand around what Wheelhouse writes. */
import fc from 'fast-check'

const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/)
const prose = fc
  .string({ unit: 'grapheme', maxLength: 24 })
  .map((text) => text.replaceAll(/[\p{Cc}\uFEFF\p{Cs}]/gu, ' '))
const eol = fc.constantFrom('\n', '\r\n')

const basic = prose.map((text) => JSON.stringify(text))
const literal = prose.map((text) => `'${text.replaceAll("'", '’')}'`)
const path = fc.constantFrom(String.raw`'C:\Users\me\.codex'`, String.raw`"C:\\work\\x"`, '"/home/é/🛞"')

function value(nl: string): fc.Arbitrary<string> {
  const multi = fc.tuple(prose, prose).map(([a, b]) => {
    const safe = (text: string): string => text.replaceAll(/["\\]/g, '.')
    return `"""${nl}${safe(a)}${nl}model_provider = 'no'${nl}# >>> wheelhouse-gateway >>>${nl}\\""" ${safe(b)}"""""`
  })
  const multiLiteral = prose.map((text) => `'''${nl}${text.replaceAll("'", '’')}${nl}[model_providers.x]${nl}'''`)
  const scalar = fc.oneof(
    basic,
    literal,
    path,
    fc.integer().map(String),
    fc.constantFrom('true', 'nan', '-inf', '1e9', '0xdead_beef', '1979-05-27', '1979-05-27 07:32:00Z', '07:32:00.5'),
    fc.constant('9223372036854775807'),
  )
  const array = fc
    .array(fc.oneof(scalar, multi), { maxLength: 3 })
    .map((items) =>
      items.length === 0
        ? '[ ]'
        : `[${nl}  # ] in a comment${nl}${items.map((item) => `  ${item}, # "${nl}`).join('')}]`,
    )
  const inline = fc
    .array(scalar, { maxLength: 3 })
    .map((items) => `{ ${items.map((item, index) => `k${index}.'x y' = ${item}`).join(', ')} }`)
  return fc.oneof(scalar, scalar, multi, multiLiteral, array, inline)
}

interface Line {
  kind: 'entry' | 'comment' | 'blank'
  key: string
  dotted: string
  value: string
  space: string
  comment: string
}

const line = (nl: string): fc.Arbitrary<Line> =>
  fc.record({
    kind: fc.constantFrom('entry', 'entry', 'entry', 'comment', 'blank'),
    key: word,
    dotted: fc.constantFrom('', '', '.sub', ' . "é 🛞"', String.raw`.'C:\Users\me'`),
    value: value(nl),
    space: fc.constantFrom('', ' ', '\t', '   '),
    comment: fc.oneof(
      fc.constant(''),
      prose.map((text) => `# ${text}`),
    ),
  })

/** Valid TOML, with the keys that takeover cares for in every place where they may stand. */
export const tomlFile: fc.Arbitrary<string> = fc
  .tuple(eol, fc.boolean())
  .chain(([nl, mixed]) =>
    fc.record({
      nl: fc.constant(nl),
      mixed: fc.constant(mixed),
      bom: fc.boolean(),
      directive: fc.boolean(),
      finalEol: fc.boolean(),
      root: fc.array(line(nl), { maxLength: 6 }),
      provider: fc.constantFrom(null, '"openai"', "'mine'", '"corp"  # mine', '"""x"""'),
      baseUrl: fc.constantFrom(null, '"https://corp.example/v1"', "'http://127.0.0.1:11434/v1' # local"),
      quoted: fc.boolean(),
      tables: fc.array(
        fc.record({
          header: fc.constantFrom(
            '[profiles.x]',
            '[model_providers.mine]',
            '[[list]]',
            '["a b".c]',
            '[projects."/tmp/x"]',
          ),
          holds: fc.boolean(),
          lines: fc.array(line(nl), { maxLength: 4 }),
        }),
        { maxLength: 4 },
      ),
    }),
  )
  .map((file) => {
    const other = file.mixed ? (file.nl === '\n' ? '\r\n' : '\n') : file.nl
    let count = 0
    const end = (): string => (count++ % 3 === 2 ? other : file.nl)
    const render = (lines: readonly Line[], prefix: string): string =>
      lines
        .map((each, index) => {
          if (each.kind === 'blank') return each.space + end()
          if (each.kind === 'comment') return `${each.space}# ${each.comment}${end()}`
          const key = `${prefix}${index}${each.key}${each.dotted}`
          return `${each.space}${key}${each.space}=${each.space}${each.value}${each.space}${each.comment}${end()}`
        })
        .join('')
    const name = file.quoted ? '"model_provider"' : 'model_provider'
    const parts = [
      file.directive ? `#:schema https://x.example/s.json${end()}` : '',
      render(file.root.slice(0, 3), 'r'),
      file.provider === null ? '' : `${name}   = ${file.provider}${end()}`,
      file.baseUrl === null ? '' : `openai_base_url=${file.baseUrl}${end()}`,
      render(file.root.slice(3), 's'),
    ]
    const seen = new Set<string>()
    for (const [index, table] of file.tables.entries()) {
      if (seen.has(table.header) && table.header !== '[[list]]') continue
      seen.add(table.header)
      const held = table.holds ? `model_provider = "inner"${end()}` : ''
      parts.push(`${table.header}${end()}${held}${render(table.lines, `t${index}`)}`)
    }
    const text = (file.bom ? '\uFEFF' : '') + parts.join('')
    return file.finalEol ? text : text.replace(/(?:\r?\n)+$/, '')
  })

const jsonValue = fc.jsonValue({ maxDepth: 2 })

/** A settings file of Claude Code: any JSON object, its `env` in every form, printed in every style. */
export const settingsFile: fc.Arbitrary<string> = fc
  .record({
    nl: eol,
    indent: fc.constantFrom('', '  ', '    ', '\t'),
    bom: fc.boolean(),
    finalEol: fc.boolean(),
    before: fc.dictionary(word, jsonValue, { maxKeys: 3 }),
    after: fc.dictionary(word, jsonValue, { maxKeys: 3 }),
    env: fc.constantFrom('none', 'empty', 'others', 'ours'),
    gap: fc.constantFrom('', ' ', '\n'),
    secret: prose,
  })
  .map((file) => {
    const env = {
      none: undefined,
      empty: {},
      others: { PATH: file.secret, ANTHROPIC_API_KEY: 'sk-x' },
      ours: { A: '1', ANTHROPIC_AUTH_TOKEN: file.secret, ANTHROPIC_BASE_URL: 'https://corp.example', Z: '2' },
    }[file.env]
    const value = { ...file.before, ...(env === undefined ? {} : { env }), ...file.after }
    const printed = JSON.stringify(value, null, file.indent).replaceAll('\n', file.nl)
    const text = printed === '{}' ? `{${file.gap}}` : printed
    return (file.bom ? '\uFEFF' : '') + text + (file.finalEol ? file.nl : '')
  })
