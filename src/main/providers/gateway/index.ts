export { openMachineGateway } from './machine.ts'
export type { GatewayStatus, MachineGateway } from './machine.ts'
