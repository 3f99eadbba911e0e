export { NewSession } from './NewSession.tsx'
