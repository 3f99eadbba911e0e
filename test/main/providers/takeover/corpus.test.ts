/** Config files as people have them: taken over and given back, to the byte. */
import { describe, expect, test } from 'vitest'
import { createTakeoverWorld } from './support.ts'

const PROJECTS = Array.from({ length: 1_500 }, (_, index) =>
  [
    `[projects.'C:\\Users\\me\\Documents\\work ${index}']`,
    `trust_level = "trusted" # ${'why, at length; '.repeat(32)}`,
    `[projects."/home/me/проект 🛞 ${index}"]`,
    'trust_level="untrusted"',
  ].join('\r\n'),
).join('\r\n')

const CORPUS: Readonly<Record<string, string>> = {
  'comments everywhere':
    '# top\n\n  # indented\nmodel = "m" # after a value\n# model_provider = "no"\n[tui] # after a header\n  # in a table\nx = [ # in an array\n  1, # and here ]\n  # "\n]\n# the end',
  'dotted keys':
    'tui.notifications = true\nprofiles.fast.model_provider = "x"\nprofiles . "slow one" . model = "y"\nmcp_servers."a.b".command = "c"\n"model"."x" = 1\n',
  'Providers in dotted keys':
    'model_providers.mine.name = "Mine"\nmodel_provider = "mine"\nmodel_providers.mine.wire_api = "responses"',
  'arrays of tables':
    'model = "m"\n[[hooks.pre]]\nmodel_provider = "no"\n[[hooks.pre]]\n[hooks.pre.env]\nA = "1"\n[[ "hooks" . post ]]\n',
  'inline tables':
    'sandbox = { mode = "x", roots = [ { path = "/a", "b.c" = { d = 1 } }, {} ], model_provider = "no" }\nshell = {}\n',
  'emoji and right-to-left text':
    '"🛞" = "🦊 \\U0001F98A"\n\'שלום\' = \'مرحبا\'\n[profiles."é"]\nmodel_provider = "ü"\n[mcp_servers."日本"]\ncommand = "語"\n',
  'strings of several lines':
    'a = """\n[model_providers.wheelhouse-gateway]\nmodel_provider = "no"\\\n  """\nb = \'\'\'\n# >>> wheelhouse-gateway >>>\n\'\'\'\nmodel_provider = """openai"""\n',
  '900 KiB of projects': `model_provider = "corp"\r\nopenai_base_url = 'https://corp.example/v1'\r\n${PROJECTS}\r\n`,
}

describe.each(Object.entries(CORPUS))('PR-A61 Codex, %s', (_title, before) => {
  test.each(['provider_table', 'base_url'] as const)('as %s', async (kind) => {
    using world = createTakeoverWorld('codex', kind)
    world.write(before, 0o640)
    expect((await world.enable()).status).toMatchObject({ state: 'active', detail: null })
    expect(world.read()).not.toBe(before)
    await world.takeover.disable()
    expect(world.read() === before).toBe(true)
    expect(world.mode()).toBe(0o640)
  })
})

const SETTINGS: Readonly<Record<string, string>> = {
  'everything a person sets':
    '{\n  "$schema": "https://json.schemastore.org/claude-code-settings.json",\n  "permissions": { "allow": ["Bash(npm run test:*)"], "deny": [] },\n  "env": { "A": "1", "PATH": "C:\\\\Users\\\\me;\\u00e9🛞" },\n  "hooks": { "PreToolUse": [ { "matcher": "*", "hooks": [] } ] },\n  "model": "opus[1m]"\n}\n',
  'one line': '{"env":{"ANTHROPIC_BASE_URL":"https://corp","A":"\\"}"},"x":[1e400,12345678901234567890]}',
  'odd spacing': '\n\n{ "a"\t:1 ,\n\n  "env"\n:\n{ }\n,"z" : [ ] }\n\n',
  '900 KiB': JSON.stringify(
    {
      env: { B: '2' },
      projects: Array.from({ length: 2_000 }, (_, n) => ({ path: `C:\\work\\${n}`, note: 'at length; '.repeat(40) })),
    },
    null,
    '\t',
  ),
}

test.each(Object.entries(SETTINGS))('PR-A61 Claude Code, %s', async (_title, before) => {
  using world = createTakeoverWorld('claude', 'env')
  world.write(before, 0o640)
  expect((await world.enable()).status).toMatchObject({ state: 'active', detail: null })
  await world.takeover.disable()
  expect(world.read() === before).toBe(true)
  expect(world.mode()).toBe(0o640)
})

test('PR-A61 the largest of them are as large as said', () => {
  for (const text of [CORPUS['900 KiB of projects'], SETTINGS['900 KiB']]) {
    expect(Buffer.byteLength(text ?? '')).toBeGreaterThan(900 * 1_024)
  }
})
