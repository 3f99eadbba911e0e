/** What agents may do without asking, and how each of their questions was answered. */
export { PermissionsView } from './PermissionsView.tsx'
