/** The desktop's notifications on Linux. The only door of this folder. */
export { busAddresses } from './address.ts'
export { createDbusNotifications } from './port.ts'
