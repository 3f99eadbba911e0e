import { EventEmitter } from 'node:events'

/** Tells when the screen is locked or the machine sleeps: a test says so by `emit`. */
export const powerMonitor = new EventEmitter()
