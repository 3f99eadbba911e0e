import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { DecisionView, ProcedureInput, ProcedureName, ProcedureOutput } from '../../src/shared/bridge/index.ts'
import type { PortAnswer, PreloadPort } from '../../src/shared/bridge/preload-port.ts'
import type { LaunchedApp } from './launch.ts'

/** For what a loaded machine does late. */
export const SOON = { timeout: 30_000, interval: 50 }

/** One call of the bridge as the page makes it. */
export async function call<N extends ProcedureName>(
  page: Page,
  name: N,
  input: ProcedureInput<N>,
): Promise<ProcedureOutput<N>> {
  const answer: PortAnswer = await page.evaluate(
    ([name, input]) => (window as unknown as { wheelhouse: PreloadPort }).wheelhouse.call(name, input),
    [name, input] as const,
  )
  if (!answer.ok) throw new Error(`${name}: ${answer.error.code} ${answer.error.message}`)
  // The host parsed it.
  return answer.output as ProcedureOutput<N>
}

/** A session of the rehearsal whose model runs this command, up to the approval that it asks for. */
export async function askFor(app: LaunchedApp, workDir: string, command: string): Promise<DecisionView> {
  const session = await call(app.page, 'sessions.create', { agentId: 'builtin', workDir })
  await call(app.page, 'runs.submit', { sessionId: session.id, text: `run: ${command}` })
  const mine = async (): Promise<DecisionView | undefined> =>
    (await call(app.page, 'decisions.pending', {})).decisions.find(({ sessionId }) => sessionId === session.id)
  await expect.poll(mine, SOON).toBeDefined()
  const decision = await mine()
  if (decision === undefined) throw new Error('the approval was settled by somebody else')
  return decision
}

/** What the host logged. */
export function readLog(home: string): string {
  return readFileSync(join(home, 'logs', 'wheelhouse.log'), 'utf8')
}

/** Every process on this machine that was started with this data folder in its environment. */
export function processesOf(home: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(`WHEELHOUSE_HOME=${home}\0`))
    .map(Number)
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return ''
  }
}
