/** One archive that says how this installation is, and holds no secret. */
export { exportDiagnostics } from './diagnostics.ts'
export type { Diagnostics, DiagnosticsDeps } from './diagnostics.ts'
