/** Something done very often, and what has to be as it was afterwards. */
export interface Soak {
  readonly name: string
  /** One sentence. */
  readonly how: string
  /** Throws when something is left. `say`: how far it is. */
  run(say: (progress: string) => void): Promise<void>
}
