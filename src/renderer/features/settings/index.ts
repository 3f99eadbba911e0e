/** What a person may set, each with what it is for. */
export { SettingsView } from './SettingsView.tsx'
