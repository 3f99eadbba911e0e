export { NewSession } from './NewSession.tsx'
export { FolderField } from './FolderField.tsx'
