/** A session of the built-in agent on a model of our own, and prompts to it through the bridge, as a window sends them. */
import type { Bridge } from '../../src/shared/bridge/client.ts'
import { startFakeModel } from '../support/fake-model.ts'

export interface PromptedSession extends AsyncDisposable {
  readonly sessionId: string
  /** Sends a prompt and waits until its run has completed. The answer is one short text. */
  prompt(): Promise<void>
}

export async function openPromptedSession(bridge: Bridge, workDir: string): Promise<PromptedSession> {
  const model = await startFakeModel()
  const { revision } = await bridge.call('providers.list', {})
  const { connectionId } = await bridge.call('providers.upsert', {
    connection: {
      name: 'Bench',
      client: 'builtin',
      preset: 'custom',
      protocol: 'responses',
      baseUrl: model.baseUrl,
      authMode: 'none',
      manualModelId: 'fake-model',
    },
    expectedRevision: revision,
  })
  const { id: sessionId } = await bridge.call('sessions.create', {
    agentId: 'builtin',
    workDir,
    choice: { connectionId, modelId: 'fake-model', effort: 'default' },
  })
  return {
    sessionId,
    async prompt() {
      model.script({ text: 'Done.' })
      const { runId } = await bridge.call('runs.submit', { sessionId, text: 'Say that you are done.' })
      const state = await endOf(bridge, sessionId, runId)
      if (state !== 'completed') throw new Error(`the run ended as ${state}`)
    },
    [Symbol.asyncDispose]: () => model.close(),
  }
}

function endOf(bridge: Bridge, sessionId: string, runId: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const forget = bridge.subscribe(
      'session.events',
      { sessionId },
      {
        after: 0,
        event(event) {
          if (event.runId !== runId || event.type !== 'run_finished') return
          forget()
          resolve(event.state)
        },
        ended: (_reason, error) => reject(error ?? new Error('the host went away')),
      },
    )
  })
}
