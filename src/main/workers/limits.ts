/** Every bound of this system, in ms and bytes unless the name says otherwise. Each is enforced and tested. */
export const LIMITS = {
  workers: 32,
  handshakeMs: 120_000,
  modeConfirmMs: 10_000,
  startRetryDelayMs: 250,
  /** How long the owner may take to record a worker's identity before its first byte. */
  onStartedMs: 5_000,
  closeStdinMs: 5_000,
  termGraceMs: 10_000,
  confirmMs: 5_000,
  confirmPollMs: [50, 500],
  pipeDrainMs: 2_000,
  cancelWriteMs: 5_000,
  /** After a cancel that the agent does not carry through, its turn's own shells are ended. */
  cancelGraceMs: 2_000,
  /** 23 h: a day's clock change still leaves the person less than a full day behind. */
  decisionMs: 82_800_000,
  decisionDrainMs: 2_000,
  lineBytes: 33_554_432,
  invalidLines: 100,
  invalidBytes: 1_048_576,
  stdinQueueBytes: 4_194_304,
  promptBytes: 1_048_576,
  updates: 256,
  /** The text of one content item; what is over is left out and counted by a `gap`. */
  contentBytes: 4_194_304,
  stderrTailBytes: 65_536,
  stderrLines: 50,
  stderrLineBytes: 300,
  agentTextCutBytes: 4_096,
  agentTextChars: 120,
  handlers: 64,
  busy: 256,
  decisions: 32,
  options: 32,
  /** A permission's exact action; what is over makes it `complete: false`. */
  actionBytes: 4_194_304,
  toolCalls: 1_024,
  /** Of what an agent says of its calls, all that is remembered of a session's together. */
  toolCallChars: 8_388_608,
  toolCallIdBytes: 256,
  locations: 64,
  locationBytes: 4_096,
  reasonChars: 500,
  refusalsPerTurn: 1_024,
  refusalsRemembered: 4_096,
  tokenHandoffs: 5,
  tokenWindowMs: 120_000,
  /** Windows that a socket waits for its worker. */
  tokenStartWindows: 5,
  tokenHandoffMs: 5_000,
  tokenWaiters: 4,
  takerPollMs: [1_000, 15_000],
  takerErrors: 10,
  /** `sun_path` with its closing zero, on the system that has the shorter one. */
  socketPathBytes: 103,
  receipts: 1_000,
  probeMs: 30_000,
  probeBytes: 262_144,
} as const

export type Limits = {
  readonly [K in keyof typeof LIMITS]: (typeof LIMITS)[K] extends number ? number : readonly [number, number]
}

/** A caller may lower a bound, never raise one. */
export function lowerLimits(asked: Partial<Limits> | undefined): Limits {
  if (asked === undefined) return LIMITS
  const lowered: Record<string, unknown> = { ...LIMITS }
  for (const [name, value] of Object.entries(asked)) {
    const shipped = lowered[name]
    if (typeof value === 'number' && typeof shipped === 'number' && value >= 0) lowered[name] = Math.min(value, shipped)
  }
  return lowered as Limits
}
