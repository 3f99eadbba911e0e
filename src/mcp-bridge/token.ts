/** Takes the token: proves to the host who this is by holding the file open that the host names. */
import { closeSync, openSync } from 'node:fs'
import { Challenge, TokenFrame } from '../shared/mcp-bridge.ts'
import { connectFrames } from './frames.ts'

/** The host answers once its worker is on record, and nobody else has the token. */
const WAIT_MS = 60_000

/** @throws Error: the host gives it to nobody, or not to this process. */
export async function takeToken(socketPath: string): Promise<string> {
  const frames = await connectFrames(socketPath, WAIT_MS)
  try {
    const { open } = Challenge.parse(await frames.receive())
    const held = openSync(open, 'r')
    try {
      frames.send({ opened: true })
      const { token } = TokenFrame.parse(await frames.receive())
      frames.send({ taken: true })
      return token
    } finally {
      closeSync(held)
    }
  } finally {
    frames.close()
  }
}
