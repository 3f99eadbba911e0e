/** Files that go along with a prompt, and files that an agent made. */
export { AttachButton } from './AttachButton.tsx'
export { DraftInputs } from './DraftInputs.tsx'
export { PromptInputs } from './PromptInputs.tsx'
export { PublishedFiles } from './PublishedFiles.tsx'
export { carriesFiles, useFileDrop } from './useFileDrop.ts'
export { useUploads } from './useUploads.ts'
