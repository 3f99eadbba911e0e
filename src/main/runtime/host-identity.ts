import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { HostIdentity } from './types.ts'

/**
 * This process on this machine. Pids of another boot, machine or container are never compared with ours: where a part
 * cannot be read, the others still tell them apart, and an expiry is waited for at worst.
 */
export function readHostIdentity(): HostIdentity {
  const parts = [
    read(() => readFileSync('/etc/machine-id', 'utf8')),
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    read(() => readlinkSync('/proc/self/ns/pid')),
    hostname(),
    process.platform,
  ]
  return {
    ownerHost: createHash('sha256').update(parts.join('\n')).digest('hex'),
    pid: process.pid,
    isAlive(pid) {
      try {
        process.kill(pid, 0)
        return true
      } catch (error) {
        // No permission is no proof that it is gone.
        return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
      }
    },
  }
}

function read(from: () => string): string {
  try {
    return from().trim()
  } catch {
    return ''
  }
}
