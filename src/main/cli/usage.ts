export const USAGE = `Usage: wheelhouse COMMAND [options]

  run       run one session to its end on this terminal
  serve     serve the interface to a browser on this machine
  doctor    check what this machine has and lacks
  sessions  list the sessions
  providers list the Providers, or ask each whether it answers
  schedule  what is asked of agents by the clock
  takeover  let an agent's own config file lead to the gateway, and take it back
  trust     let agents read what a project's folder brings with it; untrust: let them not
  call      reach any procedure of the bridge

wheelhouse run --agent AGENT [--dir FOLDER] [options] "PROMPT"
  --agent AGENT      builtin, codex, claude, or acp:<id>
  --dir FOLDER       the project's folder (default: this one)
  --provider NAME    a Provider by its name or preset, such as rehearsal (default: the agent's)
  --model ID         one of its models (default: the Provider's)
  --mode MODE        plan, agent or yolo (default: agent)
  --sandbox          keep the agent to FOLDER, where this machine can
  --no-failover      ask the chosen Provider alone, whatever fallbacks it has
  --approve HOW      ask     on this terminal (default)
                     once    allow what is of low or medium risk, deny the rest
                     all     allow everything
                     deny    deny everything
  --json             the session's events on standard output, one JSON object a line

wheelhouse schedule add --cron "0 9 * * 1-5" --agent AGENT [--dir FOLDER] [options] "PROMPT"
  --name NAME        what it is called (default: the prompt's beginning)
  --zone ZONE        the time zone of its times, such as Europe/Berlin (default: this machine's)
  --provider, --model, --mode   as of run; what would be asked is refused after ten minutes (a setting) without an answer
  --deliver NAME     a place that its answers are sent to; may be given again
  --catch-up         make up, once, for times that passed while nothing was open
wheelhouse schedule list [--json]
wheelhouse schedule run|pause|resume|remove NAME
Due schedules are started by the app, and by wheelhouse serve, while one of them is open.

wheelhouse serve [--port N] [--demo]
  --port N           this port and no other
  --demo             open a rehearsal session at once
wheelhouse doctor [--json]
wheelhouse sessions [--json]
wheelhouse providers [list|test] [--json]
wheelhouse call PROCEDURE [JSON]
wheelhouse trust FOLDER | --list [--json]
wheelhouse untrust FOLDER
wheelhouse takeover status|plan|enable|disable|repair|restore --client codex|claude [--as base_url|provider_table]
                    [--[no-]keep-login] [--config FILE] [--json]
wheelhouse takeover rotate-key [--json]

Exit codes of run and schedule run: 0 completed, 1 failed, 2 wrong usage, 3 something was denied or blocked, 130 interrupted.
The data folder is $WHEELHOUSE_HOME, or the system's usual place. Commands use the host that runs on it, or one of their own.
`

/** Where the words about a command begin in the list of the commands. */
const ABOUT = 12

/** What stands of one command alone, with where the rest is; of a name that is none, the list of the commands. */
export function usageOf(command: string): string {
  const lines = USAGE.split('\n')
  let within = false
  const own = lines.filter((line) => {
    // What belongs to a line stands indented below it.
    if (!line.startsWith(' ')) within = `${line} `.startsWith(`wheelhouse ${command} `)
    return within
  })
  const about = lines.find((line) => line.startsWith(`  ${command} `))?.slice(ABOUT)
  const text =
    own.length === 0
      ? USAGE.slice(0, USAGE.indexOf('\n\nwheelhouse '))
      : `Usage: ${own.join('\n')}${about === undefined ? '' : `\n\n${command}: ${about}`}`
  return `${text}\n\nFor all of it: wheelhouse --help\n`
}

/** A command line that cannot be understood: exit code 2, with the usage of its command. */
export class UsageError extends Error {}
