/** Choosing a folder of this machine: by its path, from the recent ones, by the system's dialog or by looking round. */
export { FolderPicker } from './FolderPicker.tsx'
export type { FolderPickerProps } from './FolderPicker.tsx'
