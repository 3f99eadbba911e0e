import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createTakeoverWorld, LINE } from './support.ts'

const SCRIPT = fileURLToPath(new URL('crash-script.ts', import.meta.url))
const LIMIT_MS = 120_000
const BEFORE = '# mine\nmodel_provider = "openai" # kept\n\n[mcp_servers.x]\ncommand = "y"'
const FILE_POINTS = ['before_write', 'after_write', 'before_rename', 'after_rename', 'before_dirsync', 'after_dirsync']
const WHOLE = process.env['WHEELHOUSE_FAULTS'] === 'all'

async function dieAt(
  world: ReturnType<typeof createTakeoverWorld>,
  action: string,
  point: string,
): Promise<string | null> {
  const [name = '', nth = '1'] = point.split('#')
  const args = [SCRIPT, world.path, world.dir.at('data'), action, name, nth]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (_code, signal) => resolve(signal))
  })
}

/** Enabling writes the copy, the record, the config and the record again. */
const ENABLING = WHOLE
  ? [
      'takeover.before_backup',
      'takeover.after_backup',
      'takeover.after_state',
      'takeover.after_rename',
      ...FILE_POINTS.flatMap((name) => [1, 2, 3, 4].map((nth) => `${name}#${nth}`)),
    ]
  : ['takeover.after_backup', 'takeover.after_state', 'before_rename#3', 'takeover.after_rename']
const DISABLING = WHOLE
  ? [
      'takeover.after_disabling',
      'takeover.after_removal',
      ...FILE_POINTS.flatMap((name) => [1, 2, 3].map((nth) => `${name}#${nth}`)),
    ]
  : ['takeover.after_disabling', 'takeover.after_removal']

test(
  'PR-T29 killed while it is switched on, the next start knows which; never a second copy',
  { timeout: LIMIT_MS },
  async () => {
    const outcomes = ENABLING.map(async (point) => {
      using world = createTakeoverWorld()
      world.write(BEFORE, 0o640)
      const signal = await dieAt(world, 'enable', point)
      const renamed = world.read() !== BEFORE
      const next = world.open()
      await next.start()
      const knows = (await next.status()).state === (renamed ? 'active' : 'inactive')
      const beside = readdirSync(world.dir.at('home', '.codex'))
      if (!renamed) await world.enable(next)
      const isOn = world.read()?.includes(LINE)
      const copies = readdirSync(world.backups).filter((name) => name.endsWith('.bak')).length
      await next.disable()
      return { point, signal, knows, beside, isOn, copies, after: world.read(), mode: world.mode() }
    })
    expect(await Promise.all(outcomes)).toEqual(
      ENABLING.map((point) => ({
        point,
        signal: 'SIGKILL',
        knows: true,
        beside: ['config.toml'],
        isOn: true,
        copies: 1,
        after: BEFORE,
        mode: 0o640,
      })),
    )
  },
)

test(
  'PR-T29 killed while it is switched off, the next start finishes; an edit by hand in between is kept',
  { timeout: LIMIT_MS },
  async () => {
    const outcomes = DISABLING.map(async (point) => {
      using world = createTakeoverWorld()
      world.write(BEFORE)
      await world.enable()
      const signal = await dieAt(world, 'disable', point)
      world.write((world.read() ?? '').replace('# mine', '# mine, edited'))
      const next = world.open()
      await next.start()
      const { state, enabled } = await next.status()
      await next.disable()
      return { point, signal, settled: state === 'inactive' || enabled, after: world.read() }
    })
    const after = BEFORE.replace('# mine', '# mine, edited')
    expect(await Promise.all(outcomes)).toEqual(
      DISABLING.map((point) => ({ point, signal: 'SIGKILL', settled: true, after })),
    )
  },
)
