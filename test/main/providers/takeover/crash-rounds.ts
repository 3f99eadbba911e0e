/** Takeover of Codex that is killed with -9 at a named place, and the next start. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTakeoverWorld, LINE } from './support.ts'
import type { World } from './support.ts'

const SCRIPT = fileURLToPath(new URL('crash-script.ts', import.meta.url))
const BEFORE = '# mine\nmodel_provider = "openai" # kept\n\n[mcp_servers.x]\ncommand = "y"'
const FILE_POINTS = ['before_write', 'after_write', 'before_rename', 'after_rename', 'before_dirsync', 'after_dirsync']
const ofFiles = (files: readonly number[]): string[] =>
  FILE_POINTS.flatMap((name) => files.map((nth) => `${name}#${nth}`))

/** Enabling writes the copy, the record, the config and the record again. */
export const ENABLING: readonly string[] = [
  'takeover.before_backup',
  'takeover.after_backup',
  'takeover.after_state',
  'takeover.after_rename',
  ...ofFiles([1, 2, 3, 4]),
]
/** Disabling writes the record, the config and the record again. */
export const DISABLING: readonly string[] = [
  'takeover.after_disabling',
  'takeover.after_removal',
  ...ofFiles([1, 2, 3]),
]

async function dieAt(world: World, action: string, point: string): Promise<void> {
  const [name = '', nth = '1'] = point.split('#')
  const args = [SCRIPT, world.path, world.dir.at('data'), action, name, nth]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const signal = await new Promise<string | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (_code, by) => resolve(by))
  })
  assert.equal(signal, 'SIGKILL', `it was not killed at ${point}`)
}

/**
 * The next start knows whether it is on, keeps no second copy, and switches off to the byte, also of what was edited by hand
 * in between. @throws Error when not.
 */
export async function enablingRound(point: string): Promise<void> {
  for (const edited of [BEFORE, BEFORE.replace('# mine', '# mine, edited')]) await enableAndDie(point, edited)
}

async function enableAndDie(point: string, edited: string): Promise<void> {
  using world = createTakeoverWorld()
  world.write(BEFORE, 0o640)
  await dieAt(world, 'enable', point)
  const renamed = world.read() !== BEFORE
  if (edited !== BEFORE) world.write((world.read() ?? '').replace('# mine', '# mine, edited'))
  const next = world.open()
  await next.start()
  assert.equal((await next.status()).state, renamed ? 'active' : 'inactive')
  assert.deepEqual(readdirSync(world.dir.at('home', '.codex')), ['config.toml'])
  if (!renamed) await world.enable(next)
  assert.ok(world.read()?.includes(LINE))
  const copies = readdirSync(world.backups).filter((name) => name.endsWith('.bak'))
  // What was edited since is another file from before: its copy stands beside the first.
  assert.ok(copies.length === 1 || (copies.length === 2 && edited !== BEFORE && !renamed))
  for (const name of copies) assert.ok(!readFileSync(join(world.backups, name), 'utf8').includes('wheelhouse'))
  await next.disable()
  assert.deepEqual([world.read(), world.mode()], [edited, 0o640])
}

/** A folder that was made for the file goes with it, wherever the making was cut. @throws Error when not. */
export async function folderRound(action: 'enable' | 'disable', point: string): Promise<void> {
  using world = createTakeoverWorld()
  if (action === 'disable') await world.enable()
  await dieAt(world, action, point)
  const next = world.open()
  await next.start()
  await next.disable()
  assert.ok(!existsSync(world.dir.at('home')), `left behind: ${world.dir.at('home')}`)
}

/** The next start finishes, and an edit by hand in between is kept. @throws Error when not. */
export async function disablingRound(point: string): Promise<void> {
  using world = createTakeoverWorld()
  world.write(BEFORE)
  await world.enable()
  await dieAt(world, 'disable', point)
  world.write((world.read() ?? '').replace('# mine', '# mine, edited'))
  const next = world.open()
  await next.start()
  const { state, enabled } = await next.status()
  assert.ok(state === 'inactive' || enabled, `neither off nor on: ${state}`)
  await next.disable()
  assert.equal(world.read(), BEFORE.replace('# mine', '# mine, edited'))
}
