/**
 * Node does not tell who is at the other end of a socket. So the peer is asked to hold a fresh file open, and exactly one
 * process of the worker's tree must be seen to hold it. By inode, which also works across mount and pid namespaces.
 */
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Opened } from '../../../shared/mcp-bridge.ts'
import type { Ids } from '../../platform/types.ts'
import type { PeerProver, ProcessIdentity, ProcessTable, TokenPeer } from '../types.ts'

/** A file as the kernel knows it. */
export interface FileIdentity {
  path: string
  dev: number
  ino: number
}

/** Which of these processes hold the file open. */
export type FindHolders = (file: FileIdentity, pids: readonly number[]) => Promise<readonly number[]>

const LSOF_MS = 3_000

export function createDescriptorProver(deps: {
  table: Pick<ProcessTable, 'tree'>
  ids: Ids
  holders?: FindHolders
}): PeerProver {
  const { table, ids, holders = process.platform === 'darwin' ? lsofHolders : procHolders } = deps
  return {
    async prove(peer: TokenPeer, worker: ProcessIdentity, signal: AbortSignal) {
      const path = join(peer.dir, `n-${Buffer.from(ids.bytes(16)).toString('hex')}`)
      const file = await createEmpty(path)
      try {
        peer.send({ open: path })
        if (!Opened.safeParse(await peer.receive(signal)).success) return null
        const tree = await table.tree(worker)
        if (tree === null) return null
        const found = await holders(
          file,
          tree.map(({ pid }) => pid),
        )
        const [holder, ...others] = found
        if (holder === undefined || others.length > 0) return null
        return tree.find(({ pid }) => pid === holder) ?? null
      } finally {
        await rm(path, { force: true })
      }
    },
  }
}

async function createEmpty(path: string): Promise<FileIdentity> {
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    const { dev, ino } = await file.stat()
    return { path, dev, ino }
  } finally {
    await file.close()
  }
}

/** Linux: `/proc/<pid>/fd`. A process that went meanwhile holds nothing. */
const procHolders: FindHolders = async ({ dev, ino }, pids) => {
  const held = await Promise.all(pids.map((pid) => holds(pid, dev, ino)))
  return pids.filter((_, index) => held[index])
}

async function holds(pid: number, dev: number, ino: number): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const found = await stat(`${folder}/${name}`).catch(() => null)
    if (found?.dev === dev && found.ino === ino) return true
  }
  return false
}

/** macOS: `lsof` names the processes that have the file open. */
const lsofHolders: FindHolders = ({ path }, pids) =>
  new Promise((resolve) => {
    const env = { PATH: '/usr/sbin:/usr/bin:/bin', NODE_V8_COVERAGE: undefined }
    execFile('/usr/sbin/lsof', ['-t', '--', path], { env, timeout: LSOF_MS }, (_error, stdout) => {
      const open = new Set(stdout.split('\n').map(Number))
      resolve(pids.filter((pid) => open.has(pid)))
    })
  })
