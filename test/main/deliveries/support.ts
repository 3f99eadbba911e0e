import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ClaimedOperation, DeliveredArtifact } from '../../../src/main/runtime/index.ts'

export interface SeenRequest {
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Receiver extends AsyncDisposable {
  url: string
  seen: SeenRequest[]
  /** What the next requests are answered with. */
  answer: (response: ServerResponse, request: IncomingMessage) => void
}

/** A server on this machine that keeps what it is sent. */
export async function startReceiver(): Promise<Receiver> {
  const self: Omit<Receiver, 'url' | typeof Symbol.asyncDispose> = {
    seen: [],
    answer: (response) => void response.writeHead(204).end(),
  }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      self.seen.push({ headers: request.headers, body: Buffer.concat(pieces) })
      self.answer(response, request)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(self, {
    url: `http://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  })
}

export function artifactOf(content: string, filename = 'report.txt'): DeliveredArtifact {
  return {
    id: 'f1',
    kind: 'file',
    filename,
    mediaType: 'text/plain',
    bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
    open: async () => Readable.from([Buffer.from(content)], { objectMode: false }),
  }
}

export function operationOf(change: Partial<ClaimedOperation> = {}): ClaimedOperation {
  return {
    id: `dlo_${'a'.repeat(32)}`,
    deliveryId: `dlv_${'b'.repeat(32)}`,
    kind: 'send_text',
    sequence: 1,
    attempt: 1,
    leaseEpoch: 1,
    target: { transport: 'webhook', targetId: 'main', context: { chat: 7 } },
    idempotencyKey: `dlo_${'a'.repeat(32)}`,
    payload: 'The answer.',
    artifact: null,
    remoteAssetId: '',
    remoteState: {},
    ...change,
  }
}
