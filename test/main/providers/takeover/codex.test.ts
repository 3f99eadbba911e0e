import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import { codeOf, errorOf } from '../support.ts'
import { ADDRESS, BLOCK, createTakeoverWorld, KEY, LINE, URL_LINE } from './support.ts'
import type { World } from './support.ts'

const crlf = (text: string): string => text.replaceAll('\n', '\r\n')

interface Shape {
  id: string
  title: string
  before: string
  /** With the table, and with the root key. */
  table: string
  url: string
}

const SHAPES: readonly Shape[] = [
  { id: 'PR-T02', title: 'an empty file', before: '', table: `${LINE}\n\n${BLOCK}`, url: URL_LINE },
  {
    id: 'PR-T03',
    title: 'root keys and other Providers',
    before: 'model = "m"\n[model_providers.mine]\nname = "x"\n',
    table: `${LINE}\nmodel = "m"\n[model_providers.mine]\nname = "x"\n\n${BLOCK}`,
    url: `${URL_LINE}model = "m"\n[model_providers.mine]\nname = "x"\n`,
  },
  {
    id: 'PR-T04',
    title: 'a value with a comment',
    before: 'model_provider = "openai" # mine\nopenai_base_url = "https://x/v1" # mine\n',
    table: `${LINE} # mine\nopenai_base_url = "https://x/v1" # mine\n\n${BLOCK}`,
    url: `model_provider = "openai" # mine\nopenai_base_url = "http://127.0.0.1:38777/k/${KEY}/v1" # mine\n`,
  },
  {
    id: 'PR-T05',
    title: 'a quoted key and odd spacing',
    before: `"model_provider"   =   'foo'\n`,
    table: `"model_provider"   =   "wheelhouse-gateway"\n\n${BLOCK}`,
    url: `${URL_LINE}"model_provider"   =   "openai"\n`,
  },
  {
    id: 'PR-T06',
    title: 'the key in tables, comments and strings alone',
    before:
      '# model_provider = "a"\ns = """\nmodel_provider = "b"\n"""\n[profiles.x]\nmodel_provider = "c"\nopenai_base_url = "d"\n',
    table: `${LINE}\n# model_provider = "a"\ns = """\nmodel_provider = "b"\n"""\n[profiles.x]\nmodel_provider = "c"\nopenai_base_url = "d"\n\n${BLOCK}`,
    url: `${URL_LINE}# model_provider = "a"\ns = """\nmodel_provider = "b"\n"""\n[profiles.x]\nmodel_provider = "c"\nopenai_base_url = "d"\n`,
  },
  {
    id: 'PR-T07',
    title: 'a last line without its ending',
    before: 'a = 1',
    table: `${LINE}\na = 1\n\n${BLOCK}`,
    url: `${URL_LINE}a = 1`,
  },
  {
    id: 'PR-T08',
    title: 'CRLF',
    before: 'a = 1\r\nb = 2\r\n',
    table: crlf(`${LINE}\na = 1\nb = 2\n\n${BLOCK}`),
    url: crlf(`${URL_LINE}a = 1\nb = 2\n`),
  },
  {
    id: 'PR-T08',
    title: 'as many CRLF as LF',
    before: 'a = 1\r\nb = 2\n',
    table: `${LINE}\na = 1\r\nb = 2\n\n${BLOCK}`,
    url: `${URL_LINE}a = 1\r\nb = 2\n`,
  },
  {
    id: 'PR-T09',
    title: 'a byte order mark and a directive',
    before: '\uFEFF#:schema x\na = 1\n',
    table: `\uFEFF#:schema x\n${LINE}\na = 1\n\n${BLOCK}`,
    url: `\uFEFF#:schema x\n${URL_LINE}a = 1\n`,
  },
]

describe('PR-A60 Codex: what is written, and how it goes back', () => {
  for (const { id, title, before, table, url } of SHAPES) {
    for (const [kind, after] of [
      ['provider_table', table],
      ['base_url', url],
    ] as const) {
      test(`${id} ${title}, as ${kind}`, async () => {
        using world = createTakeoverWorld('codex', kind)
        world.write(before, 0o640)
        expect((await world.enable()).status).toMatchObject({ state: 'active', detail: null })
        expect(world.read()).toBe(after)
        expect((await world.takeover.disable()).status).toMatchObject({ state: 'inactive', detail: null })
        expect(world.read()).toBe(before)
        expect(world.mode()).toBe(0o640)
      })
    }
  }

  test('PR-T01 a file that was not there is made, and goes again', async () => {
    using world = createTakeoverWorld()
    await world.enable()
    expect(world.read()).toBe(`${LINE}\n\n${BLOCK}`)
    expect(world.mode()).toBe(0o600)
    expect(statSync(world.dir.at('home', '.codex')).mode & 0o777).toBe(0o700)
    await world.takeover.disable()
    expect(existsSync(world.dir.at('home'))).toBe(false)
  })

  test('PR-T01 a folder that was made for it goes once it is empty; one that was there, or is used, stays', async () => {
    using world = createTakeoverWorld()
    const folder = world.dir.at('home', '.codex')
    await world.enable()
    writeFileSync(`${folder}/auth.json`, '{}')
    await world.takeover.disable()
    expect(readdirSync(folder)).toEqual(['auth.json'])
    rmSync(`${folder}/auth.json`)
    await world.enable()
    await world.takeover.disable()
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
    let writes = 0
    world.fileFailpoints.onHit('before_rename', () => {
      // The record is the first.
      if (++writes === 2) throw new Error('the disk fails')
    })
    expect(await codeOf(world.enable())).toBe('file_failed')
    expect(existsSync(world.dir.at('home', '.codex'))).toBe(false)
  })

  test('the path is whole, whatever the host calls its folder; a link to a folder that is not there is said', async () => {
    using world = createTakeoverWorld()
    world.environment['CODEX_HOME'] = 'some/where'
    expect((await world.takeover.status()).configPath).toBe(`${process.cwd()}/some/where/config.toml`)
    delete world.environment['CODEX_HOME']
    mkdirSync(world.dir.at('real'))
    symlinkSync(world.dir.at('real'), world.dir.at('home'))
    await world.enable()
    expect(readFileSync(world.dir.at('real', '.codex', 'config.toml'), 'utf8')).toContain(LINE)
    await world.takeover.disable()
    expect(readdirSync(world.dir.at('real'))).toEqual([])
    symlinkSync(world.dir.at('nowhere'), world.dir.at('home', '.codex'))
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unwritable')
  })

  test.each([
    ['invalid UTF-8', new Uint8Array([0x61, 0x3d, 0xff])],
    ['a key twice', 'a = 1\na = 2\n'],
  ])('PR-T10 %s is refused and not touched', async (_title, bytes) => {
    using world = createTakeoverWorld()
    world.write(bytes)
    const { mtimeNs } = statSync(world.path, { bigint: true })
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_malformed')
    expect(readFileSync(world.path)).toEqual(Buffer.from(bytes))
    expect(statSync(world.path, { bigint: true }).mtimeNs).toBe(mtimeNs)
    expect((await world.takeover.status()).state).toBe('inactive')
  })

  test('PR-T11 Providers in an inline table, and a file over 1 MiB, are not supported', async () => {
    using world = createTakeoverWorld()
    world.write('model_providers = { mine = { name = "x" } }\n')
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unsupported')
    world.write(`# ${'x'.repeat(1_048_576)}\n`)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unsupported')
  })

  test('a file that grew over 1 MiB meanwhile is given back all the same', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    const grown = `# ${'x'.repeat(1_048_576)}\n`
    world.write(world.read() + grown)
    expect((await world.takeover.status()).state).toBe('active')
    await world.takeover.disable()
    expect(world.read()).toBe(`a = 1\n${grown}`)
  })

  test('PR-T12 a table of that name that is the person’s own is a conflict', async () => {
    using world = createTakeoverWorld()
    const own = '[model_providers.wheelhouse-gateway]\nname = "mine"\n'
    world.write(own)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_conflict')
    expect(world.read()).toBe(own)
  })

  test('PR-T13 a second enable writes nothing; another address is repaired in place', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    const { mtimeNs } = statSync(world.path, { bigint: true })
    await world.enable()
    expect(statSync(world.path, { bigint: true }).mtimeNs).toBe(mtimeNs)
    world.gateway.address = '127.0.0.1:40001'
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'address_changed' })
    expect((await world.takeover.repair()).status.state).toBe('active')
    expect(world.read()).toBe(`${LINE}\na = 1\n\n${BLOCK.replace('38777', '40001')}`)
    expect(readdirSync(world.backups)).toHaveLength(1)
    await world.takeover.disable()
    expect(world.read()).toBe('a = 1\n')
  })

  test('a file that was made for it, and got another address since, goes when it is switched off', async () => {
    using world = createTakeoverWorld()
    await world.enable()
    world.gateway.key = KEY.replace('whg_0', 'whg_9')
    await world.enable()
    expect(world.read()).toContain('whg_9')
    await world.takeover.disable()
    expect(world.read()).toBeNull()
  })

  test('stay signed in is written where it was asked for, survives a quit and a repair, and is taken back', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    const signedIn = BLOCK.replace('requires_openai_auth = false', 'requires_openai_auth = true')
    const { digest, keepLogin } = await world.takeover.plan({ keepLogin: true })
    expect(keepLogin).toBe(true)
    expect(await codeOf(world.takeover.enable({ digest }))).toBe('takeover_conflict')
    await world.takeover.enable({ digest, keepLogin: true })
    expect(world.read()).toBe(`${LINE}\na = 1\n\n${signedIn}`)
    expect(await world.takeover.status()).toMatchObject({ state: 'active', keepLogin: true })
    await world.takeover.stop({ keep: false })
    const next = world.open()
    await next.start()
    expect(world.read()).toContain(signedIn)
    world.write((world.read() ?? '').replace(`${LINE}\n`, ''))
    await next.repair()
    expect(world.read()).toBe(`${LINE}\na = 1\n\n${signedIn}`)
    const back = await next.plan({ keepLogin: false })
    expect(back.hunks.flatMap(({ after }) => after)).toContain('requires_openai_auth = false')
    await next.enable({ digest: back.digest, keepLogin: false })
    expect(world.read()).toBe(`${LINE}\na = 1\n\n${BLOCK}`)
    await next.disable()
    expect(world.read()).toBe('a = 1\n')
  })

  test('stay signed in is no part of the root key', async () => {
    using world = createTakeoverWorld('codex', 'base_url')
    world.write('a = 1\n')
    expect(await world.takeover.plan({ keepLogin: true })).toMatchObject({ kind: 'base_url', keepLogin: false })
  })

  test('a trusted project with an address of its own is warned of', async () => {
    using world = createTakeoverWorld()
    const trusting = (level: string): string => `[projects."${world.dir.at('project')}"]\ntrust_level = "${level}"\n`
    mkdirSync(world.dir.at('project', '.codex'), { recursive: true })
    writeFileSync(world.dir.at('project', '.codex', 'config.toml'), 'openai_base_url = "https://corp/v1"\n')
    world.write(trusting('untrusted'))
    expect((await world.takeover.plan()).warnings).not.toContain('higher_scope_overrides')
    world.write(trusting('trusted'))
    expect((await world.takeover.plan()).warnings).toContain('higher_scope_overrides')
  })

  test('PR-T14 a block without its closing line is refused, and repaired by its table', async () => {
    using world = createTakeoverWorld()
    const open = BLOCK.replace('# <<< wheelhouse-gateway <<<\n', '')
    world.write(`a = 1\n\n${open}[z]\nb = 2\n`)
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'marker_unclosed' })
    expect(await codeOf(world.takeover.plan())).toBe('takeover_conflict')
    await world.takeover.repair()
    expect(world.read()).toBe('a = 1\n[z]\nb = 2\n')
  })

  test('PR-T15 a link stays a link, and its target is rewritten beside itself', async () => {
    using world = createTakeoverWorld()
    world.write('')
    const real = world.dir.at('dotfiles.toml')
    writeFileSync(real, 'a = 1\n')
    rmSync(world.path)
    symlinkSync(real, world.path)
    await world.enable()
    expect(lstatSync(world.path).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain(LINE)
    await world.takeover.disable()
    expect(readFileSync(real, 'utf8')).toBe('a = 1\n')
  })

  test('PR-T16 what cannot be written to is said, and leaves no trace', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n', 0o400)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unwritable')
    chmodSync(world.path, 0o600)
    chmodSync(world.dir.at('home', '.codex'), 0o500)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unwritable')
    chmodSync(world.dir.at('home', '.codex'), 0o700)
    rmSync(world.path)
    symlinkSync(world.dir.at('nowhere'), world.path)
    expect(await codeOf(world.takeover.plan())).toBe('takeover_config_unwritable')
    expect(existsSync(world.recordPath)).toBe(false)
    expect(existsSync(world.backups)).toBe(false)
  })

  test('PR-T16 what can no longer be written to stays on as it was, and the next start changes nothing', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    const recorded = (): unknown => JSON.parse(readFileSync(world.recordPath, 'utf8'))
    const [on, record] = [world.read(), recorded()]
    chmodSync(world.path, 0o400)
    expect(await codeOf(world.takeover.disable())).toBe('takeover_config_unwritable')
    chmodSync(world.path, 0o600)
    for (const change of ['disable', 'restoreBackup'] as const) {
      // The record says first what is about to happen: the disk is full right after it.
      let writes = 0
      world.fileFailpoints.onHit('before_rename', () => {
        writes += 1
        const isConfig = writes === (change === 'disable' ? 2 : 3)
        if (isConfig) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      })
      expect(await codeOf(world.takeover[change]())).toBe('storage_full')
      expect(await world.takeover.status()).toMatchObject({ state: 'active', enabled: true })
      expect(recorded()).toEqual(record)
    }
    world.fileFailpoints.onHit('before_rename', () => undefined)
    await world.open().start()
    expect(world.read()).toBe(on)
    await world.takeover.disable()
    expect(world.read()).toBe('a = 1\n')
  })

  /** The disk of the data folder alone is full, at these writes: the record, the config file, the record. */
  function fillAt(world: World, full: readonly number[]): void {
    let writes = 0
    world.fileFailpoints.onHit('before_write', () => {
      writes += 1
      if (full.includes(writes)) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    })
  }

  const takeovers = [
    ['codex', 'provider_table', 'model_provider = "mine" # why\n\na = 1'],
    ['codex', 'base_url', 'model_provider = "mine"\r\na = 1'],
    ['claude', 'env', '{ "env": { "ANTHROPIC_BASE_URL": "https://mine" } }'],
  ] as const

  test.each(takeovers)('a full data disk keeps no file of %s at the gateway, as %s', async (client, kind, old) => {
    using world = createTakeoverWorld(client, kind)
    world.write(old)
    await world.enable()
    fillAt(world, [1, 3])
    const error = await errorOf(world.takeover.disable())
    expect(error).toMatchObject({ code: 'storage_full', cause: { code: 'storage_full' } })
    expect(error?.message).toContain(`${world.path} no longer leads to Wheelhouse, but that could not be recorded`)
    expect(world.read()).toBe(old)
    fillAt(world, [])
    const next = world.open()
    await next.start()
    expect(await next.status()).toMatchObject({ state: 'drifted', enabled: true })
    expect(world.read()).toBe(old)
    await next.disable()
    expect(await next.status()).toMatchObject({ state: 'inactive', detail: null, enabled: false })
    expect(world.read()).toBe(old)
  })

  test.each(takeovers)('a quit with a full data disk switches %s off, as %s', async (client, kind, old) => {
    using world = createTakeoverWorld(client, kind)
    world.write(old)
    await world.enable()
    fillAt(world, [1, 3])
    expect(await codeOf(world.takeover.stop({ keep: false }))).toBe('storage_full')
    expect(world.read()).toBe(old)
  })

  test('a record that can be written again in time is as any other', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    fillAt(world, [1])
    await world.takeover.stop({ keep: false })
    expect(world.read()).toBe('a = 1\n')
    const next = world.open()
    await next.start()
    expect((await next.status()).state).toBe('active')
    fillAt(world, [1])
    expect((await next.disable()).status).toMatchObject({ state: 'inactive', detail: null })
    expect(world.read()).toBe('a = 1\n')
  })

  test('where only the end cannot be recorded, the next start records it', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    fillAt(world, [3])
    expect(await codeOf(world.takeover.disable())).toBe('storage_full')
    expect((await world.takeover.status()).state).toBe('drifted')
    const next = world.open()
    await next.start()
    expect((await next.status()).state).toBe('inactive')
    expect(world.read()).toBe('a = 1\n')
  })

  test('a full disk that holds the config file too leaves both as they were', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    const recorded = (): string => readFileSync(world.recordPath, 'utf8')
    const [on, record] = [world.read(), recorded()]
    fillAt(world, [1, 2, 3])
    expect(await codeOf(world.takeover.disable())).toBe('storage_full')
    expect([world.read(), recorded()]).toEqual([on, record])
    expect((await world.takeover.status()).state).toBe('active')
  })

  test('PR-T17 the mode is kept, and a world-readable file is warned of', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    chmodSync(world.path, 0o644)
    expect((await world.enable()).status.warnings).toContain('config_world_readable')
    expect(world.mode()).toBe(0o644)
  })

  test('PR-T18 what somebody saves in the last moment is kept', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    let saved = false
    world.failpoints.onHit('takeover.after_state', () => {
      if (!saved) world.write('a = 1\nb = "theirs"\n')
      saved = true
    })
    await world.enable()
    expect(world.read()).toBe(`${LINE}\na = 1\nb = "theirs"\n\n${BLOCK}`)
    await world.takeover.disable()
    expect(world.read()).toBe('a = 1\nb = "theirs"\n')
    expect(readdirSync(world.backups)).toHaveLength(1)
  })

  test('PR-T18 a writer that never rests is a conflict, and nothing was written', async () => {
    using world = createTakeoverWorld()
    world.write('a = 0\n')
    let saves = 0
    world.failpoints.onHit('takeover.after_state', () => world.write(`a = ${++saves}\n`))
    expect(await codeOf(world.enable())).toBe('takeover_conflict')
    expect(world.read()).toBe('a = 3\n')
    expect(existsSync(world.recordPath)).toBe(false)
    expect(readdirSync(world.backups)).toEqual([])
  })

  test('PR-T19 a profile with a Provider of its own is warned of', async () => {
    using world = createTakeoverWorld()
    world.write('profile = "x"\n[profiles.x]\nmodel_provider = "mine"\n')
    expect((await world.enable()).status.warnings).toContain('profile_overrides_provider')
    await world.takeover.disable()
    world.write('a = 1\n')
    writeFileSync(world.dir.at('home', '.codex', 'work.config.toml'), 'model_provider = "mine"\n')
    expect((await world.takeover.plan()).warnings).toContain('profile_overrides_provider')
  })

  test('PR-T20 edits elsewhere stay, also where Codex puts its own before our closing line', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    const trust = '\n[projects."/tmp/x"]\ntrust_level = "trusted"\n'
    world.write(
      (world.read() ?? '')
        .replace('# <<< wheelhouse-gateway <<<\n', `${trust}# <<< wheelhouse-gateway <<<\n`)
        .replace('a = 1', 'a = 2'),
    )
    expect((await world.takeover.status()).state).toBe('active')
    await world.takeover.disable()
    expect(world.read()).toBe(`a = 2\n${trust}`)
  })

  test('PR-T21 the person’s own choice of a Provider is left', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    world.write((world.read() ?? '').replace(LINE, 'model_provider = "other"'))
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'provider_line_user_changed' })
    expect((await world.takeover.disable()).status).toMatchObject({
      state: 'inactive',
      detail: 'provider_line_user_changed',
    })
    expect(world.read()).toBe('model_provider = "other"\na = 1\n')
  })

  test('an address of ours that somebody mangled is mended, and goes when it is switched off', async () => {
    using world = createTakeoverWorld('codex', 'base_url')
    world.write('a = 1\n')
    await world.enable()
    const written = String(world.read())
    world.write(written.replace('/k/whg_', '/k/x'))
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'address_changed' })
    expect((await world.takeover.repair()).status.state).toBe('active')
    expect(world.read()).toBe(written)
    world.write(written.replace('/k/whg_', '/k/x'))
    await world.takeover.disable()
    expect(world.read()).toBe('a = 1\n')
  })

  test('PR-T21 a person’s own address is left, as base_url', async () => {
    using world = createTakeoverWorld('codex', 'base_url')
    world.write('a = 1\n')
    await world.enable()
    world.write('openai_base_url = "https://mine/v1"\na = 1\n')
    expect((await world.takeover.status()).detail).toBe('provider_line_user_changed')
    expect((await world.takeover.disable()).status).toMatchObject({
      state: 'inactive',
      detail: 'provider_line_user_changed',
    })
    expect(world.read()).toBe('openai_base_url = "https://mine/v1"\na = 1\n')
  })

  test('PR-T22 a block that the person edited stays, and is said to', async () => {
    using world = createTakeoverWorld()
    world.write('model_provider = "mine"\n')
    await world.enable()
    const edited = (world.read() ?? '').replace('supports_websockets = false', 'supports_websockets = true')
    world.write(edited)
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'block_user_changed' })
    expect((await world.takeover.disable()).status).toMatchObject({
      state: 'drifted',
      detail: 'block_user_changed',
      enabled: false,
    })
    expect(world.read()).toBe(edited.replace(LINE, 'model_provider = "mine"'))
    await world.takeover.repair()
    expect(world.read()).toBe('model_provider = "mine"\n')
  })

  test('PR-T23 a table whose comments were stripped is still ours', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    world.write((world.read() ?? '').replaceAll(/^# .*\n/gm, ''))
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'markers_missing' })
    expect((await world.takeover.disable()).status.state).toBe('inactive')
    expect(world.read()).toBe('a = 1\n')
  })

  test('PR-T24 a file that was deleted is made again by repair, or left', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    rmSync(world.path)
    expect(await world.takeover.status()).toMatchObject({ state: 'drifted', detail: 'config_missing' })
    expect((await world.takeover.repair()).status.state).toBe('active')
    expect(world.read()).toBe(`${LINE}\n\n${BLOCK}`)
    // Nothing in it is the person's.
    expect((await world.takeover.disable()).status.state).toBe('inactive')
    expect(world.read()).toBeNull()
    await world.enable()
    rmSync(world.path)
    expect((await world.takeover.disable()).status.state).toBe('inactive')
    expect(world.read()).toBeNull()
  })

  test.each([
    ['became malformed', Buffer.from('a = [\n')],
    ['is no text any more', Buffer.from([0x61, 0x00, 0xff])],
  ])('PR-T25 a file that %s can only be restored', async (_how, broken) => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    world.write(broken)
    expect(await world.takeover.status()).toMatchObject({
      state: 'broken',
      detail: 'config_malformed',
      restoreAvailable: true,
    })
    expect(await codeOf(world.takeover.repair())).toBe('takeover_config_malformed')
    expect(await codeOf(world.takeover.disable())).toBe('takeover_config_malformed')
    expect((await world.takeover.restoreBackup()).status.state).toBe('inactive')
    expect(world.read()).toBe('a = 1\n')
    // What was there a moment ago is kept, too.
    expect(readdirSync(world.backups).map((name) => readFileSync(`${world.backups}/${name}`))).toContainEqual(broken)
  })

  test('PR-T28 restores one after another never push out the copy from before takeover', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    for (let edit = 0; edit < 7; edit += 1) {
      world.write(`b = ${edit}\n`)
      expect((await world.takeover.restoreBackup()).status.restoreAvailable).toBe(true)
      expect(world.read()).toBe('a = 1\n')
    }
    expect(readdirSync(world.backups)).toHaveLength(5)
  })

  test('PR-T26 another CODEX_HOME does not move what is managed', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    world.environment['CODEX_HOME'] = world.dir.at('elsewhere')
    const status = await world.takeover.status()
    expect(status).toMatchObject({ state: 'active', configPath: world.path })
    expect(status.warnings).toContain('config_path_changed')
    await world.takeover.disable()
    expect(world.read()).toBe('a = 1\n')
  })

  test.each(['provider_table', 'base_url'] as const)(
    'PR-T27 what another Wheelhouse wrote is not taken from it: its own switch puts back what was there (%s)',
    async (kind) => {
      using world = createTakeoverWorld('codex', kind)
      const before = 'model_provider = "mine"\nopenai_base_url = "https://mine.example"\n'
      world.write(before)
      await world.enable()
      renameSync(world.recordPath, `${world.recordPath}.other`)
      world.gateway.address = '127.0.0.1:40000'
      for (const asked of ['provider_table', 'base_url'] as const) {
        const refusal = await errorOf(world.takeover.plan({ kind: asked }))
        expect([refusal?.code, refusal?.message]).toEqual([
          'takeover_conflict',
          expect.stringContaining('Switch it off there'),
        ])
      }
      renameSync(`${world.recordPath}.other`, world.recordPath)
      world.gateway.address = ADDRESS
      await world.takeover.disable()
      expect(world.read()).toBe(before)
    },
  )

  test('PR-T27 without its record the projection is adopted by repair', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    rmSync(world.recordPath)
    expect(await world.takeover.status()).toMatchObject({
      state: 'drifted',
      detail: 'state_missing',
      restoreAvailable: false,
    })
    expect((await world.takeover.repair()).status).toMatchObject({ state: 'active', enabled: true })
    await world.takeover.disable()
    expect(world.read()).toBe('a = 1\n')
  })

  test('PR-T28 a backup that is gone is said; what is not durable yet is said, too', async () => {
    using world = createTakeoverWorld()
    world.write('model_provider = "mine"\n')
    await world.enable()
    rmSync(world.backups, { recursive: true })
    expect(await codeOf(world.takeover.restoreBackup())).toBe('takeover_backup_missing')
    await world.takeover.disable()
    expect(world.read()).toBe('model_provider = "mine"\n')
    world.fileFailpoints.failAt('before_dirsync', { always: true })
    const { outcome, status } = await world.enable()
    expect(outcome).toEqual({ applied: true, durable: false })
    expect(status).toMatchObject({ state: 'active', warnings: expect.arrayContaining(['not_durable']) })
  })

  test('PR-A59 a file that changed since it was shown is not written to', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    const { digest, hunks } = await world.takeover.plan()
    expect(hunks.flatMap(({ after }) => after).join('\n')).toContain(LINE)
    expect(JSON.stringify(hunks)).not.toContain(KEY)
    world.write('a = 2\n')
    expect(await codeOf(world.takeover.enable({ digest }))).toBe('takeover_conflict')
    expect(world.read()).toBe('a = 2\n')
  })

  test('a quit in order switches off, and the next start on again', async () => {
    using world = createTakeoverWorld()
    world.write('a = 1\n')
    await world.enable()
    await world.takeover.stop({ keep: false })
    expect(world.read()).toBe('a = 1\n')
    const next = world.open()
    await next.start()
    expect((await next.status()).state).toBe('active')
    await next.stop({ keep: true })
    expect(world.read()).toContain(LINE)
    await next.disable()
    await world.open().start()
    expect(world.read()).toBe('a = 1\n')
    renameSync(world.path, `${world.path}.moved`)
    mkdirSync(world.path)
    expect((await next.status()).detail).toBe('config_unreadable')
  })
})
