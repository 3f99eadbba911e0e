export { createAcpDriver } from './driver.ts'
export { builtinProfile, customProfile, knownAgent, KNOWN_AGENTS } from './profiles.ts'
