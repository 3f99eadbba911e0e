/** What agents write and change, shown without obeying any of it. */
export { Verbatim } from './CodeBlock.tsx'
export { CommandOutput } from './CommandOutput.tsx'
export { Diff } from './Diff.tsx'
export type { DiffProps } from './Diff.tsx'
export { Folded } from './Folded.tsx'
export { Markdown } from './Markdown.tsx'
