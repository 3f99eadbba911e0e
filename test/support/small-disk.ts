import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'

export interface SmallDisk extends Disposable {
  path: string
  /** False: nothing may be mounted on this machine. */
  isMounted: boolean
}

/** A file system of its own, that goes with the test. */
export function mountAt(path: string, size: string): SmallDisk {
  mkdirSync(path)
  let isMounted = true
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    isMounted = false
  }
  return {
    path,
    isMounted,
    [Symbol.dispose]() {
      if (isMounted) execFileSync('umount', ['-l', path], { stdio: 'ignore' })
    },
  }
}

export function fillUp(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096, 1))
  } catch {
    // Not one byte more.
  } finally {
    closeSync(file)
  }
}
