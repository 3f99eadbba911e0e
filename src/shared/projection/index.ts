/**
 * What a run looks like, worked out from its events alone. Pure: equal events give equal bytes, in any process; a window
 * that resumed and one that replayed from the floor reach the same view.
 */
export { emptyRun, extendRun, projectRun } from './run.ts'
export type { DecisionItem, RetryProgress, RunView, ToolItem, TranscriptItem } from './view.ts'
export { DecisionItem as DecisionItemSchema, RunView as RunViewSchema } from './view.ts'
