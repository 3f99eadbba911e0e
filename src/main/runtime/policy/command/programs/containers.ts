/** Containers, clusters and infrastructure. */
import type { Judge, ProgramTable } from '../program.ts'
import { high, low, medium, runsProject } from '../verdict.ts'
import { operandsOf, optionValues } from '../words.ts'

const DOCKER = {
  short: 'cHl',
  long: ['--config', '--context', '--host', '--log-level', '--connection', '--url', '--root'],
}
const READS = new Set(['ps', 'images', 'logs', 'inspect'])
const KINDS = new Set(['volume', 'image', 'container', 'network'])

function mountsRoot(args: Parameters<Judge>[0]['args']): boolean {
  if (optionValues(args, { short: 'v', long: ['--volume'] }).some((value) => /^=?\/+(?::|$)/.test(value))) return true
  return optionValues(args, { long: ['--mount'] }).some((value) => /(?:^|,)(?:source|src)=\/+(?:,|$)/.test(value))
}

const docker: Judge = ({ name, args }) => {
  const [command, action] = operandsOf(args, DOCKER)
  const doing = `${name} ${command?.text ?? ''}`
  if (command?.text === 'prune' || action?.text === 'prune')
    return high(`Deletes unused containers, images or volumes (${doing} prune).`)
  if (KINDS.has(command?.text ?? '') && /^(?:rm|remove)$/.test(action?.text ?? ''))
    return high(`Deletes a ${command?.text ?? ''} (${doing} rm).`)
  if (args.some((arg) => /^--privileged(?:=|$)/.test(arg.text)))
    return high(`Starts a container with all rights (${name} --privileged).`)
  if (mountsRoot(args)) return high(`Gives a container the whole disk (${doing} -v /).`)
  if (command === undefined) return medium(`Runs ${name}.`)
  // Another host, or settings that name programs.
  const isElsewhere = args.indexOf(command) > 0
  return READS.has(command.text) && !isElsewhere
    ? low(`Shows containers or images (${doing}).`)
    : medium(`Runs or changes containers (${doing}).`)
}

const KUBECTL = {
  short: 'ns',
  long: [
    '--namespace',
    '--context',
    '--kubeconfig',
    '--cluster',
    '--user',
    '--server',
    '--token',
    '--as',
    '--request-timeout',
  ],
}

const kubectl: Judge = ({ name, args }) => {
  const operands = operandsOf(args, KUBECTL).map((arg) => arg.text)
  const [verb = ''] = operands
  // An option that is not known here may have swallowed the verb, so the second word counts as well.
  const destroys = operands
    .slice(0, 2)
    .find((word, at) => /^(?:delete|drain)$/.test(word) && (at === 0 || args[0]?.text.startsWith('-') === true))
  if (destroys !== undefined) return high(`Deletes from a cluster (${name} ${destroys}).`)
  // Another server, or settings that name the program that logs in.
  const isElsewhere = args.some((arg) => /^(?:--(?:kubeconfig|server|cluster|user|token)(?:=|$)|-s)/.test(arg.text))
  return /^(?:get|describe|logs)$/.test(verb) && !isElsewhere
    ? low(`Shows a cluster (${name} ${verb}).`)
    : medium(`Changes a cluster (${name} ${verb}).`)
}

const terraform: Judge = ({ name, args }) => {
  const [command] = operandsOf(args)
  if (args.some((arg) => /^--?auto-approve(?:=|$)/.test(arg.text)))
    return high(`Changes infrastructure without asking (${name} -auto-approve).`)
  if (command?.text === 'destroy' || args.some((arg) => /^--?destroy(?:=|$)/.test(arg.text))) {
    return high(`Destroys infrastructure (${name} destroy).`)
  }
  // A plan asks the programs that the project names as its sources.
  return /^(?:plan|validate|show)$/.test(command?.text ?? '')
    ? runsProject(`Shows infrastructure (${name} ${command?.text ?? ''}).`)
    : medium(`Changes infrastructure (${name} ${command?.text ?? ''}).`)
}

export const CONTAINERS: ProgramTable = [
  ['docker podman nerdctl', docker],
  ['kubectl', kubectl],
  ['terraform tofu', terraform],
]
