import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { AppError } from '../../shared/errors.ts'
import { readBounded } from './file-read.ts'
import { makeFolders } from './folders.ts'
import type { Clock, DurableFile, Paths } from './types.ts'

/** A host that was just started may not listen yet. */
const CONNECT_LIMIT_MS = 5_000
const CONNECT_RETRY_MS = 50
/** What was sent last still reaches a client that reads. */
const STOP_LIMIT_MS = 1_000
const MAX_RECORD_BYTES = 4_096

/** Where clients look when the socket lies outside of the data folder, whose path is too long for a socket's. */
function recordPath(dataDir: string): string {
  return join(dataDir, 'host.sock.path')
}

/** Binds the control socket for this user alone. Only for the holder of the data folder's lock: it removes an old one. */
export async function listenAtHostSocket(
  paths: Paths,
  { clock, files }: { clock: Clock; files: DurableFile },
  accept: (socket: Socket) => void,
): Promise<AsyncDisposable> {
  const { dataDir, hostSocket } = paths
  const isPipe = process.platform === 'win32'
  const server = createServer({ pauseOnConnect: false }, accept)
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  try {
    if (!isPipe) {
      await preparePrivateFolder(dirname(hostSocket))
      await rm(hostSocket, { force: true })
    }
    server.listen(hostSocket)
    await once(server, 'listening')
    if (!isPipe) await chmod(hostSocket, 0o600)
    if (isPipe || dirname(hostSocket) === dataDir) await files.remove(recordPath(dataDir))
    else await files.write(recordPath(dataDir), hostSocket)
  } catch (error) {
    server.close()
    throw new AppError('data_dir_unwritable', `The control socket ${hostSocket} cannot be made.`, { cause: error })
  }
  return { [Symbol.asyncDispose]: () => stop(server, open, clock) }
}

async function stop(server: Server, open: ReadonlySet<Socket>, clock: Clock): Promise<void> {
  const closed = once(server, 'close')
  // Node removes the socket's file with it.
  server.close()
  for (const socket of open) socket.destroySoon()
  using _limit = clock.after(STOP_LIMIT_MS, () => {
    for (const socket of open) socket.destroy()
  })
  await closed
}

/** The folder for sockets outside of the data folder lies where others may write: it must be ours, and closed to them. */
async function preparePrivateFolder(folder: string): Promise<void> {
  await makeFolders(folder)
  const stat = await lstat(folder)
  if (!stat.isDirectory() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) {
    throw new AppError('file_unsafe', 'The folder for the control socket belongs to somebody else.', { detail: folder })
  }
}

/** @throws AppError `host_unreachable`; the reason of `signal`. */
export async function connectToHostSocket(paths: Paths, clock: Clock, signal?: AbortSignal): Promise<Socket> {
  const untilMs = clock.monotonicMs() + CONNECT_LIMIT_MS
  for (;;) {
    signal?.throwIfAborted()
    try {
      return await connect(await socketPath(paths))
    } catch (error) {
      if (clock.monotonicMs() >= untilMs) {
        throw new AppError('host_unreachable', 'Wheelhouse is running but does not answer. Try again, or end it.', {
          detail: paths.hostSocket,
          cause: error,
        })
      }
    }
    await clock.sleep(CONNECT_RETRY_MS, signal)
  }
}

async function socketPath({ dataDir, hostSocket }: Paths): Promise<string> {
  if (process.platform === 'win32' || dirname(hostSocket) === dataDir) return hostSocket
  // The host may have been started with another runtime folder than this client.
  const record = await readBounded(recordPath(dataDir), MAX_RECORD_BYTES)
  return record === null ? hostSocket : Buffer.from(record).toString()
}

async function connect(path: string): Promise<Socket> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  return socket
}
