import { parseArgs } from 'node:util'
import type { Bridge } from '../../shared/bridge/client.ts'
import type { ScheduleView } from '../../shared/bridge/index.ts'
import { AppError } from '../../shared/errors.ts'
import { EXIT } from './exit-codes.ts'
import { followRun } from './follow.ts'
import type { Command } from './index.ts'
import { chooseRuntime, PROMPT_OPTIONS, readPromptOptions } from './run-options.ts'
import { printJson, say, tell } from './print.ts'
import { UsageError } from './usage.ts'

const NAME_CHARS = 60

/** What is asked of agents by the clock. */
export const schedule: Command = (args) => {
  const [name = '', ...rest] = args
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) throw new UsageError('schedule takes add, list, run, pause, resume or remove.')
  return command(rest)
}

const add: Command = (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: true,
    options: {
      ...PROMPT_OPTIONS,
      name: { type: 'string' },
      cron: { type: 'string' },
      zone: { type: 'string' },
      deliver: { type: 'string', multiple: true, default: [] },
      'catch-up': { type: 'boolean', default: false },
    },
  })
  const { cron } = values
  if (cron === undefined) throw new UsageError('--cron takes five fields as in a crontab, such as "0 9 * * 1-5".')
  const asked = readPromptOptions(values, positionals)
  return async ({ bridge }) => {
    const choice = await chooseRuntime(bridge, asked)
    const made = await bridge.call('schedules.create', {
      name: values.name ?? beginningOf(asked.prompt),
      cron,
      ...(values.zone === undefined ? {} : { timeZone: values.zone }),
      agentId: asked.agentId,
      workDir: asked.dir,
      mode: asked.mode,
      choice,
      prompt: asked.prompt,
      deliverTo: await placesOf(bridge, values.deliver),
      catchUp: values['catch-up'],
    })
    say(`${made.id}\n`)
    tell(`"${made.name}" is due next ${timeOf(made.nextAt)}.\n`)
    return EXIT.ok
  }
}

const list: Command = (args) => {
  const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' } }, strict: true })
  return async ({ bridge }) => {
    const listed = await bridge.call('schedules.list', {})
    if (values.json === true) {
      printJson(listed)
      return EXIT.ok
    }
    for (const each of listed.schedules) {
      const when = each.enabled ? timeOf(each.nextAt) : 'paused'
      say(`${each.id}  ${when.padEnd(21)}  ${each.cron.padEnd(14)}  ${each.name}\n`)
      if (each.last !== null) say(`  ${lastOf(each.last)}\n`)
    }
    if (listed.schedules.length === 0) tell('There are no schedules yet.\n')
    return EXIT.ok
  }
}

const run: Command = (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
    strict: true,
  })
  const wanted = nameIn(positionals)
  return async ({ bridge }, interrupted) => {
    const found = await find(bridge, wanted)
    const before = found.sessionId === null ? 0 : await headOf(bridge, found.sessionId)
    const started = await bridge.call('schedules.run', { id: found.id })
    // Another agent or folder since then means another session, whose log begins with this run.
    const after = started.sessionId === found.sessionId ? before : 0
    const start = (): Promise<string> => Promise.resolve(started.runId)
    return followRun(bridge, { sessionId: started.sessionId, after, json: values.json, start }, interrupted)
  }
}

const pause = (enabled: boolean): Command => {
  return (args) => {
    const wanted = nameIn(args)
    return async ({ bridge }) => {
      const { id, rev } = await find(bridge, wanted)
      const changed = await bridge.call('schedules.update', { id, expectedRev: rev, change: { enabled } })
      tell(enabled ? `It is due next ${timeOf(changed.nextAt)}.\n` : 'It is paused.\n')
      return EXIT.ok
    }
  }
}

const remove: Command = (args) => {
  const wanted = nameIn(args)
  return async ({ bridge }) => {
    const { id } = await find(bridge, wanted)
    await bridge.call('schedules.delete', { id })
    tell('It is removed. The session with its answers stays.\n')
    return EXIT.ok
  }
}

const COMMANDS: Readonly<Record<string, Command>> = {
  add,
  list,
  run,
  pause: pause(false),
  resume: pause(true),
  remove,
}

function nameIn(positionals: readonly string[]): string {
  const [name = '', ...others] = positionals
  if (name === '' || name.startsWith('-') || others.length > 0) throw new UsageError('Name one schedule.')
  return name
}

/** By its id or its name. @throws AppError `schedule_not_found`. */
async function find(bridge: Bridge, wanted: string): Promise<ScheduleView> {
  const { schedules } = await bridge.call('schedules.list', {})
  const found = schedules.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase())
  if (found !== undefined) return found
  throw new AppError('schedule_not_found', 'There is no schedule of that name.', { detail: wanted })
}

/** Their ids. @throws AppError `delivery_target_not_found`. */
async function placesOf(bridge: Bridge, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const { targets } = await bridge.call('deliveries.targets.list', {})
  return names.map((wanted) => {
    const found = targets.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase())
    if (found !== undefined) return found.id
    const known = targets.map(({ name }) => name).join(', ')
    throw new AppError(
      'delivery_target_not_found',
      `There is no place "${wanted}". ${known === '' ? 'Add one first.' : `There are: ${known}.`}`,
    )
  })
}

const headOf = async (bridge: Bridge, sessionId: string): Promise<number> =>
  (await bridge.call('sessions.get', { sessionId })).headSeq

function beginningOf(prompt: string): string {
  const [line = ''] = prompt.trim().split('\n')
  const chars = Array.from(line)
  return chars.length > NAME_CHARS ? `${chars.slice(0, NAME_CHARS - 1).join('')}…` : line
}

/** By this machine's clock. */
function timeOf(atMs: number | null): string {
  if (atMs === null) return 'never again'
  const at = new Date(atMs)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

function lastOf({ at, outcome, runState, code, message }: NonNullable<ScheduleView['last']>): string {
  const how = outcome === 'started' ? (runState ?? 'started') : `${outcome}: ${message ?? ''} [${code ?? ''}]`
  return `last ${timeOf(at)}  ${how}`
}
