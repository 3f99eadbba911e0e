export { GatewayView } from './GatewayView.tsx'
