/** The test's hand inside of the app's process: it sends functions as text, as Playwright does for a real Electron. */
import { runInThisContext } from 'node:vm'
import * as electron from './electron.ts'

export type StandIn = typeof electron

export interface Order {
  id: number
  code: string
  arg: unknown
}

export type Outcome = { id: number; value: unknown } | { id: number; error: string }

export function answerDriver(): void {
  if (process.send === undefined) return
  // A test that was given up leaves no app behind.
  process.on('disconnect', () => process.exit(1))
  process.on('message', (order: Order) => {
    void carryOut(order).then((outcome) => process.send?.(outcome))
  })
}

async function carryOut({ id, code, arg }: Order): Promise<Outcome> {
  try {
    const run = runInThisContext(`(${code})`) as (electron: StandIn, arg: unknown) => unknown
    return { id, value: await run(electron, arg) }
  } catch (error) {
    return { id, error: String(error instanceof Error ? error.stack : error) }
  }
}
