/** Whose models the agents use: the list, the dialog that adds and edits one, and its models. */
export { BreakerMark } from './BreakerMark.tsx'
export { ConnectionDialog } from './ConnectionDialog.tsx'
export type { ConnectionDialogProps } from './ConnectionDialog.tsx'
export { ProvidersView } from './ProvidersView.tsx'
export { mostModels } from './most-models.ts'
