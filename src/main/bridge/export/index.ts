/** A session as text that outlives Wheelhouse: for people as Markdown, for programs as JSON Lines. */
export { exportPage } from './page.ts'
export type { ExportPage } from './page.ts'
