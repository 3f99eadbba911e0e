export { SessionList } from './SessionList.tsx'
export { markOf, titleOf } from './state.ts'
