export { createAcpDriver } from './driver.ts'
export { builtinProfile, customProfile } from './profiles.ts'
