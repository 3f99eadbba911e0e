import { parseArgs } from 'node:util'
import type { CatalogView, ConnectionView } from '../../shared/bridge/index.ts'
import { EXIT } from './exit-codes.ts'
import type { Command } from './index.ts'
import { inLine, printJson, say, tell } from './print.ts'
import { UsageError } from './usage.ts'

/** Lists the Providers with what each is good for, or asks each for its models first. */
export const providers: Command = (args) => {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
    strict: true,
  })
  const [action = 'list', ...others] = positionals
  if ((action !== 'list' && action !== 'test') || others.length > 0)
    throw new UsageError('providers takes one of: list, test.')
  return async ({ bridge }) => {
    if (action === 'test') {
      const { connections } = await bridge.call('providers.list', {})
      // What a question came to stands in the list.
      await Promise.allSettled(connections.map(({ id }) => bridge.call('providers.testSaved', { id })))
    }
    const catalog = await bridge.call('providers.list', {})
    if (values.json) printJson(catalog)
    else if (catalog.connections.length === 0) tell('There is no Provider yet. Add one in the interface, Providers.\n')
    else for (const connection of catalog.connections) say(linesOf(connection, catalog))
    return action === 'test' && !catalog.connections.every(isReady) ? EXIT.failed : EXIT.ok
  }
}

function linesOf(connection: ConnectionView, catalog: CatalogView): string {
  const { id, name, client, credentialReady, refusal } = connection
  const chosen = catalog.defaults[client]
  const models = catalog.models[id]?.length ?? 0
  const parts = [
    credentialReady ? (refusal === undefined ? 'ready      ' : 'not working') : 'needs a key',
    client.padEnd(7),
    inLine(name),
    ...(models === 0 ? [] : [models === 1 ? '1 model' : `${models} models`]),
    ...(chosen?.connectionId === id ? [`default: ${chosen.modelId}`] : []),
  ]
  const why = refusal === undefined ? '' : `             ${inLine(refusal.message)}\n`
  return `${parts.join('  ')}\n${why}`
}

function isReady({ credentialReady, refusal }: ConnectionView): boolean {
  return credentialReady && refusal === undefined
}
