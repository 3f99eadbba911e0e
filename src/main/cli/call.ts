import { procedures } from '../../shared/bridge/index.ts'
import type { ProcedureInput, ProcedureName } from '../../shared/bridge/index.ts'
import type { Command } from './index.ts'
import { printJson } from './print.ts'
import { UsageError } from './usage.ts'

export const call: Command = (args) => {
  const [name = '', json = '{}', ...others] = args
  if (others.length > 0) throw new UsageError('call takes a procedure and one JSON object.')
  if (!isProcedure(name)) {
    const what = name === '' ? 'call needs the name of a procedure.' : `There is no procedure "${name}".`
    throw new UsageError(`${what} There are: ${Object.keys(procedures).join(', ')}.`)
  }
  const input = parse(json)
  return async ({ bridge }) => {
    // The host parses it against the procedure's own schema.
    const output = await bridge.call(name, input as ProcedureInput<typeof name>)
    printJson(output)
    return 0
  }
}

const isProcedure = (name: string): name is ProcedureName => Object.hasOwn(procedures, name)

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new UsageError('The input is no JSON object. Quote it for your shell: \'{"limit":10}\'.')
  }
}
