export { ModelField } from './ModelField.tsx'
export { NewSession } from './NewSession.tsx'
