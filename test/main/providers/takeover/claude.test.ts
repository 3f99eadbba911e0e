import { lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { codeOf } from '../support.ts'
import { ADDRESS, createTakeoverWorld, KEY } from './support.ts'

const URL = `http://${ADDRESS}/claude`
const OURS = `"ANTHROPIC_BASE_URL": "${URL}"`
const TOKEN = `"ANTHROPIC_AUTH_TOKEN": "${KEY}"`

const SHAPES: readonly (readonly [id: string, title: string, before: string, after: string])[] = [
  ['PR-C02', 'an empty object', '{}', `{\n  "env": {\n    ${OURS},\n    ${TOKEN}\n  }\n}`],
  [
    'PR-C02',
    'other settings, indented by tabs',
    '{\n\t"model": "x"\n}\n',
    `{\n\t"model": "x",\n\t"env": {\n\t\t${OURS},\n\t\t${TOKEN}\n\t}\n}\n`,
  ],
  [
    'PR-C03',
    'other variables',
    '{\n  "env": {\n    "A": "1"\n  },\n  "z": 1\n}\n',
    `{\n  "env": {\n    "A": "1",\n    ${OURS},\n    ${TOKEN}\n  },\n  "z": 1\n}\n`,
  ],
  [
    'PR-C04',
    'the person’s own gateway',
    '{"env":{"ANTHROPIC_AUTH_TOKEN":"sk-old","B":"2","ANTHROPIC_BASE_URL":"https://corp"}}',
    `{"env":{"ANTHROPIC_AUTH_TOKEN":"${KEY}","B":"2","ANTHROPIC_BASE_URL":"${URL}"}}`,
  ],
  [
    'PR-C09',
    'CRLF and a byte order mark',
    '\uFEFF{\r\n  "a": "é🛞"\r\n}\r\n',
    `\uFEFF{\r\n  "a": "é🛞",\r\n  "env": {\r\n    ${OURS},\r\n    ${TOKEN}\r\n  }\r\n}\r\n`,
  ],
]

describe('PR-A60 Claude Code: what is written, and how it goes back', () => {
  test.each(SHAPES)('%s %s', async (_id, _title, before, after) => {
    using world = createTakeoverWorld('claude', 'env')
    world.write(before, 0o640)
    expect((await world.enable()).status).toMatchObject({ state: 'active', detail: null })
    expect(world.read()).toBe(after)
    expect(world.mode()).toBe(0o640)
    await world.takeover.disable()
    expect(world.read()).toBe(before)
  })

  test('PR-C01 a file that was not there is made, and goes again', async () => {
    using world = createTakeoverWorld('claude', 'env')
    await world.enable()
    expect(world.read()).toBe(`{\n  "env": {\n    ${OURS},\n    ${TOKEN}\n  }\n}\n`)
    expect(world.mode()).toBe(0o600)
    await world.takeover.disable()
    expect(world.read()).toBeNull()
  })

  test('PR-C04 an old token stands in the backup alone, never in the record or the plan', async () => {
    using world = createTakeoverWorld('claude', 'env')
    world.write('{"env":{"ANTHROPIC_AUTH_TOKEN":"sk-canary-of-the-person"}}')
    expect(JSON.stringify(await world.takeover.plan())).not.toMatch(/canary|whg_0/)
    await world.enable()
    expect(readFileSync(world.recordPath, 'utf8')).not.toMatch(/canary|whg_/)
  })

  test.each([['{"env":{"ANTHROPIC_API_KEY":"x"}}'], ['{"apiKeyHelper":"x"}']])(
    'PR-C05 another key is left, and warned of: %s',
    async (before) => {
      using world = createTakeoverWorld('claude', 'env')
      world.write(before)
      expect((await world.enable()).status.warnings).toContain('other_auth_present')
      await world.takeover.disable()
      expect(world.read()).toBe(before)
    },
  )

  test.each([
    ['{ // a comment\n}'],
    ['{"a":1,}'],
    ['{"env":{},"env":{}}'],
    ['[]'],
    ['{"env":"x"}'],
    ['{"env":null}'],
    ['{"env":{"ANTHROPIC_BASE_URL":"a","ANTHROPIC_BASE_URL":"b"}}'],
  ])('PR-C06 refused and not touched: %s', async (before) => {
    using world = createTakeoverWorld('claude', 'env')
    world.write(before)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_malformed')
    expect(world.read()).toBe(before)
  })

  test('PR-C07 an address that the person changed stays; the token goes back', async () => {
    using world = createTakeoverWorld('claude', 'env')
    world.write('{"env":{"ANTHROPIC_AUTH_TOKEN":"old"}}')
    await world.enable()
    world.write((world.read() ?? '').replace(URL, 'https://mine'))
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'provider_line_user_changed' })
    expect((await world.takeover.disable()).status).toMatchObject({ state: 'inactive' })
    expect(JSON.parse(world.read() ?? '')).toEqual({
      env: { ANTHROPIC_AUTH_TOKEN: 'old', ANTHROPIC_BASE_URL: 'https://mine' },
    })
  })

  test.each([
    ['is gone', (path: string) => rmSync(path)],
    ['was written over', (path: string) => writeFileSync(path, 'oh {')],
  ])(
    'PR-C08 edits elsewhere stay; where the backup %s the old value cannot come back, and that is said',
    async (_how, spoil) => {
      using world = createTakeoverWorld('claude', 'env')
      world.write('{"env":{"ANTHROPIC_AUTH_TOKEN":"old"}}')
      await world.enable()
      world.write((world.read() ?? '').replace(/}$/, ',"plugin":{"on":true}}'))
      for (const name of readdirSync(world.backups)) spoil(`${world.backups}/${name}`)
      expect((await world.takeover.disable()).status).toMatchObject({
        state: 'inactive',
        detail: 'original_unrecoverable',
        restoreAvailable: false,
      })
      expect(JSON.parse(world.read() ?? '')).toEqual({ env: {}, plugin: { on: true } })
    },
  )

  test('PR-C09 a link, a read-only file and a save in the last moment are as for Codex', async () => {
    using world = createTakeoverWorld('claude', 'env')
    world.write('{}', 0o400)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unwritable')
    rmSync(world.path)
    const real = world.dir.at('settings-of-mine.json')
    writeFileSync(real, '{}')
    symlinkSync(real, world.path)
    let saved = false
    world.failpoints.onHit('takeover.after_state', () => {
      if (!saved) writeFileSync(real, '{"theirs":1}')
      saved = true
    })
    await world.enable()
    expect(lstatSync(world.path).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain('theirs')
    await world.takeover.disable()
    expect(readFileSync(real, 'utf8')).toBe('{"theirs":1}')
    expect(readdirSync(world.backups)).toHaveLength(1)
    expect(statSync(real).isFile()).toBe(true)
  })

  test('PR-C10 settings of the machine’s owner that beat the person’s are warned of', async () => {
    using world = createTakeoverWorld('claude', 'env')
    writeFileSync(world.dir.at('managed.json'), '{"env":{"ANTHROPIC_BASE_URL":"https://corp"}}')
    world.write('{}')
    const { warnings } = await world.takeover.plan()
    expect(warnings).toEqual(expect.arrayContaining(['managed_settings_present', 'higher_scope_overrides']))
  })

  test.each(['settings.json', 'settings.local.json'])(
    'PR-C10 a project that names another address in its %s is warned of, once it was used',
    async (name) => {
      using world = createTakeoverWorld('claude', 'env')
      const project = world.dir.at('project')
      mkdirSync(`${project}/.claude`, { recursive: true })
      writeFileSync(`${project}/.claude/${name}`, '{"env":{"ANTHROPIC_BASE_URL":"https://corp"}}')
      world.write('{}')
      expect((await world.takeover.plan()).warnings).toEqual([])
      writeFileSync(world.dir.at('home', '.claude.json'), JSON.stringify({ projects: { [project]: {} } }))
      expect((await world.takeover.plan()).warnings).toEqual(['higher_scope_overrides'])
      await world.enable()
      expect(await world.takeover.status()).toMatchObject({ state: 'active', warnings: ['higher_scope_overrides'] })
    },
  )
})
