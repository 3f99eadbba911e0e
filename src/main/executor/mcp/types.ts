import type { McpServerInput, McpServerView } from '../../../shared/mcp.ts'
import type { PersistOutcome, Secret } from '../../platform/index.ts'
import type { McpServer } from '../../workers/index.ts'

/** Where secret values are kept, by reference. */
export interface SecretStore {
  set(ref: string, secret: Secret): Promise<PersistOutcome>
  /** Null: there is none. */
  get(ref: string): Promise<Secret | null>
  delete(ref: string): Promise<PersistOutcome>
  /** All that it has; null: it cannot say. */
  refs(): Promise<readonly string[] | null>
}

/** One server as a worker is given it, and the secrets in its environment. */
export interface ResolvedServer {
  server: McpServer
  secrets: readonly Secret[]
  required: boolean
  /** Changes with everything that a worker would be given. */
  version: string
}

export interface McpServers {
  /** All of them, or those of a session in `workDir`: a project's server stands before the person's of the same name. */
  list(workDir?: string): readonly McpServerView[]
  /**
   * A secret's value is stored before the row names it.
   * @throws AppError `config_conflict`, `input_invalid`, `config_value_invalid`, `credential_store_unavailable`,
   * `credential_store_failed`.
   */
  upsert(input: McpServerInput, expectedRev: number): Promise<McpServerView>
  /** @throws AppError `config_conflict`, `config_value_invalid`. */
  delete(id: string, expectedRev: number): Promise<void>
  /** Removes secrets that no row names: what a crash left between the two. Never rejects. */
  sweep(): Promise<void>
  /** The enabled ones of a session in `workDir`, by name. */
  offered(workDir: string): readonly { name: string; required: boolean; version: string }[]
  /** Ready to be given. A program that is not there is `missing`. @throws AppError `credential_store_*`. */
  resolve(
    workDir: string,
    names: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<{ servers: readonly ResolvedServer[]; missing: readonly string[] }>
  /** What the input amounts to, with its stored secrets. @throws as `upsert`; `worker_not_found`. */
  resolveInput(input: McpServerInput, env: Readonly<Record<string, string>>): Promise<ResolvedServer>
}
