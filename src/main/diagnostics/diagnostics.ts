import { AppError } from '../../shared/errors.ts'
import type { Check } from '../../shared/bridge/index.ts'
import type { Clock, SecretRegistry } from '../platform/index.ts'
import { zip } from './zip.ts'

/** Newest lines of the log: what is older has rarely to do with what is wrong now. */
const LOG_LIMITS = { maxLines: 20_000, maxBytes: 8 * 1_048_576 }
/** What one answer of the bridge carries, before base64 and its envelope. */
const MAX_ZIP_BYTES = 2_800_000

export interface DiagnosticsDeps {
  clock: Clock
  secrets: SecretRegistry
  readLog(limits: { maxLines: number; maxBytes: number }): Promise<readonly unknown[]>
  health(signal: AbortSignal): Promise<readonly Check[]>
  /** Facts of the installation by the name of their file; values that JSON can hold. */
  facts(): Promise<Readonly<Record<string, unknown>>>
}

export interface Diagnostics {
  filename: string
  zip: Buffer
}

/**
 * What somebody needs who is to find out what is wrong here, in one archive. No transcript, no file of a project and no key:
 * everything is redacted, and then looked through for every secret that this process knows.
 * @throws AppError `internal`: a secret was left, and nothing is handed out; `file_failed`.
 */
export async function exportDiagnostics(deps: DiagnosticsDeps, signal: AbortSignal): Promise<Diagnostics> {
  const { clock, secrets } = deps
  const [log, checks, facts] = await Promise.all([deps.readLog(LOG_LIMITS), deps.health(signal), deps.facts()])
  const texts: [string, string][] = [
    ['health.json', pretty(checks)],
    ...Object.entries(facts).map(([name, value]): [string, string] => [`${name}.json`, pretty(value)]),
  ]
  const atMs = clock.nowMs()
  for (let lines = log; ; lines = lines.slice(Math.ceil(lines.length / 2))) {
    const logText = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const entries = [...texts, ['log.jsonl', logText] as const].map(([name, text]) => ({
      name,
      content: Buffer.from(clean(secrets, name, text)),
    }))
    const archive = zip(entries, atMs)
    if (archive.length <= MAX_ZIP_BYTES || lines.length === 0) {
      return { filename: `wheelhouse-diagnostics-${stamp(atMs)}.zip`, zip: archive }
    }
  }
}

function clean(secrets: SecretRegistry, name: string, text: string): string {
  const redacted = secrets.redact(text)
  const left = secrets.find(redacted)
  if (left.length === 0) return redacted
  throw new AppError('internal', 'The diagnostics would have held a key, and were thrown away.', {
    detail: `${name}: ${left.join(', ')}`,
  })
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const stamp = (atMs: number): string => new Date(atMs).toISOString().slice(0, 19).replaceAll(':', '-')
