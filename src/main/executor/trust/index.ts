/** Whether a project's own settings count: a person's answers, and what they are asked about. */
export { createFolderTrust } from './folder-trust.ts'
export type { FolderTrust } from './folder-trust.ts'
export { namesInside, readInside } from './read-inside.ts'
export { claudeSettingsOf, rootsTrusted, untrustedNotice } from './for-worker.ts'
