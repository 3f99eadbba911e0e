import { procedures, topics } from '../../shared/bridge/index.ts'
import type { ProcedureName, TopicName } from '../../shared/bridge/index.ts'

/** In development and tests the client holds the host to the contract: a fake that lies fails. */
export const contractChecks = {
  output(name: ProcedureName, output: unknown): void {
    procedures[name].output.parse(output)
  },
  event(name: TopicName, event: unknown): void {
    topics[name].event.parse(event)
  },
}
