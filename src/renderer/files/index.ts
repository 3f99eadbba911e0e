/** Files that leave the window. */
export { saveAs } from './save-as.ts'
