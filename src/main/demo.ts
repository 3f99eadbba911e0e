import { connectInProcess } from './bridge/index.ts'
import type { Bridge } from '../shared/bridge/client.ts'
import { AppError } from '../shared/errors.ts'
import type { Host } from './host.ts'

const PROMPT = 'Have a look around and propose a small improvement.'

/**
 * A session of the built-in agent on the rehearsal, in a folder made for it, its first prompt written and not yet sent.
 * Made over the bridge, as a person would make it. Answers the session's id.
 * @throws AppError `model_profile_not_found`: somebody deleted the rehearsal. What the calls throw.
 */
export async function openDemo(host: Host): Promise<string> {
  const bridge = connectInProcess(host.platform.clock, (connection) => host.attach(connection, 'cli'))
  try {
    await untilOpen(bridge)
    const { connections } = await bridge.call('providers.list', {})
    const rehearsal = connections.find(({ client, preset }) => client === 'builtin' && preset === 'rehearsal')
    if (rehearsal === undefined) {
      throw new AppError('model_profile_not_found', 'There is no rehearsal any more. Add it again under Providers.')
    }
    const { suggestedWorkDir } = await bridge.call('system.info', {})
    const { path } = await bridge.call('fs.createFolder', { path: suggestedWorkDir })
    const { id } = await bridge.call('sessions.create', {
      agentId: 'builtin',
      workDir: path,
      choice: { connectionId: rehearsal.id, modelId: 'rehearsal-1', effort: 'default' },
    })
    await bridge.call('drafts.set', { sessionId: id, expectedRev: 0, text: PROMPT })
    return id
  } finally {
    bridge.close()
  }
}

function untilOpen(bridge: Bridge): Promise<void> {
  return new Promise((resolve) => {
    if (bridge.status().kind === 'open') return resolve()
    const forget = bridge.onStatus((status) => {
      if (status.kind !== 'open') return
      forget()
      resolve()
    })
  })
}
