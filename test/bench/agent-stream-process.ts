/** `agent-stream-process.ts AGENT`: measures what its lines cost, and sends the figure. */
import { costOf } from './agent-streams.ts'

process.send?.(await costOf(process.argv[2] ?? ''), () => process.exit())
