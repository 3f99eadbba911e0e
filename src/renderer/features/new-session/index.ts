export { ModelField, MORE_MODELS, MOST_MODELS } from './ModelField.tsx'
export { NewSession } from './NewSession.tsx'
