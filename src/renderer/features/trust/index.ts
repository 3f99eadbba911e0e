/** Whether what a folder brings with it may count: the question, the fact, and every answer so far. */
export { TrustedFolders } from './TrustedFolders.tsx'
export { TrustFact } from './TrustFact.tsx'
export { TrustQuestion } from './TrustQuestion.tsx'
