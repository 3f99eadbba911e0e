export { GatewayView } from './GatewayView.tsx'
export { useLedNote } from './useLedNote.ts'
