/** The command line: a client of the host that runs on the data folder, or of a private one. */
import { defaultDataDir } from '../platform/index.ts'
import { APP_VERSION } from '../version.ts'
import { openCliBridge } from './bridge.ts'
import type { CliBridge } from './bridge.ts'
import { call } from './call.ts'
import { doctor } from './doctor.ts'
import { printError } from './print.ts'
import { run } from './run.ts'
import { runServe } from './serve.ts'
import { sessions } from './sessions.ts'
import { USAGE, UsageError } from './usage.ts'

/** A command reads its arguments first, so that wrong usage costs no host. */
export type Command = (args: readonly string[]) => (cli: CliBridge) => Promise<number>

const COMMANDS: Readonly<Record<string, Command>> = { run, doctor, sessions, call }

/** Answers the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  if (name === '' || name === 'help' || args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE)
    return name === '' ? 2 : 0
  }
  if (name === '--version') {
    process.stdout.write(`${APP_VERSION}\n`)
    return 0
  }
  if (name === 'serve') return runServe(rest)
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (command === undefined) throw new UsageError(`There is no command "${name}".`)
    const execute = command(rest)
    await using cli = await openCliBridge({ dataDir: defaultDataDir(), entryDir: import.meta.dirname })
    return await execute(cli)
  } catch (thrown) {
    if (thrown instanceof UsageError || isParseError(thrown)) {
      process.stderr.write(`wheelhouse: ${thrown.message}\n\n${USAGE}`)
      return 2
    }
    printError(thrown)
    return 1
  }
}

/** What `parseArgs` throws of an unknown or malformed option. */
const isParseError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('ERR_PARSE_ARGS')
