/** The command line: a client of the host that runs on the data folder, or of a private one. */
import { defaultDataDir } from '../platform/index.ts'
import { APP_VERSION } from '../version.ts'
import { openCliBridge } from './bridge.ts'
import type { CliBridge } from './bridge.ts'
import { call } from './call.ts'
import { doctor } from './doctor.ts'
import { EXIT } from './exit-codes.ts'
import { listenForInterrupts, whenAborted } from './interrupt.ts'
import { printError, say, tell } from './print.ts'
import { providers } from './providers.ts'
import { run } from './run.ts'
import { schedule } from './schedule.ts'
import { sessions } from './sessions.ts'
import { takeover } from './takeover.ts'
import { trust, untrust } from './trust.ts'
import { USAGE, UsageError, usageOf } from './usage.ts'

/** A command reads its arguments first, so that wrong usage costs no host. Answers the exit code. */
export type Command = (args: readonly string[]) => (cli: CliBridge, interrupted: AbortSignal) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = {
  run,
  doctor: untilInterrupted(doctor),
  sessions: untilInterrupted(sessions),
  providers: untilInterrupted(providers),
  schedule,
  call: untilInterrupted(call),
  takeover,
  trust: untilInterrupted(trust),
  untrust: untilInterrupted(untrust),
}

/** Answers the exit code. `entryDir` is the folder of the built entries. */
export async function runCli(args: readonly string[], entryDir: string): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '' || name === 'help' || name === '--help' || name === '-h') {
    say(USAGE)
    return name === '' ? 2 : 0
  }
  if (asksForHelp(rest)) {
    say(usageOf(name))
    return 0
  }
  if (name === '--version') {
    say(`${APP_VERSION}\n`)
    return 0
  }
  if (name === 'serve') return (await import('./serve.ts')).runServe(rest, entryDir)
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (command === undefined) throw new UsageError(`There is no command "${name}".`)
    const execute = command(rest)
    const interrupts = listenForInterrupts()
    const interrupted = interrupts.signal
    await using cli = await openCliBridge({ dataDir: defaultDataDir(), entryDir, interrupts })
    return interrupted.aborted ? EXIT.interrupted : await execute(cli, interrupted)
  } catch (thrown) {
    if (thrown instanceof UsageError || isParseError(thrown)) {
      // Last, where a terminal still shows it.
      tell(`${usageOf(name)}\nwheelhouse: ${thrown.message}\n`)
      return 2
    }
    printError(thrown)
    return 1
  }
}

/** A command that changes nothing it would have to put back is left where it is. */
function untilInterrupted(command: Command): Command {
  return (args) => {
    const execute = command(args)
    return (cli, interrupted) =>
      Promise.race([execute(cli, interrupted), whenAborted(interrupted).then(() => EXIT.interrupted)])
  }
}

/** Before a `--`: what stands behind it is a prompt. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  return options.includes('--help') || options.includes('-h')
}

/** What `parseArgs` throws of an unknown or malformed option. */
const isParseError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('ERR_PARSE_ARGS')
