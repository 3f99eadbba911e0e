export { SessionPane } from './SessionPane.tsx'
