import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import type { BridgeTool } from '../../../shared/mcp-bridge.ts'
import { AppError } from '../../../shared/errors.ts'

export const PUBLISH_TOOL: BridgeTool = {
  name: 'publish_artifact',
  description:
    'Hands a file of the work directory to the person: a report, a picture, a document that they asked for. The file is copied as it is now; later changes are not seen.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The file, absolute or from the work directory.' },
      filename: { type: 'string', description: 'What the person sees it called. Default: its own name.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
}

const Input = z.strictObject({ path: z.string().min(1).max(4_096), filename: z.string().min(1).max(255).optional() })

/** What the tool reaches of the runtime. */
export interface ArtifactPort {
  publish(
    request: { runId: string; path: string; filename?: string },
    signal: AbortSignal,
  ): Promise<{ filename: string | null; bytes: number }>
}

/** Answers what the agent is told. Never rejects: what the person would not have is a failed call. */
export async function publishArtifact(
  artifacts: ArtifactPort,
  run: { runId: string; cwd: string } | null,
  args: unknown,
  signal: AbortSignal,
): Promise<{ text: string; failed: boolean }> {
  const input = Input.safeParse(args)
  if (!input.success)
    return { text: `These are no arguments of this tool: ${z.prettifyError(input.error)}`, failed: true }
  if (run === null) return { text: 'No turn is running, so nobody takes a file now.', failed: true }
  const { path, filename } = input.data
  try {
    const absolute = isAbsolute(path) ? path : resolve(run.cwd, path)
    const published = await artifacts.publish(
      { runId: run.runId, path: absolute, ...(filename === undefined ? {} : { filename }) },
      signal,
    )
    return { text: `Published ${published.filename ?? path}, ${published.bytes} bytes.`, failed: false }
  } catch (thrown) {
    const why = thrown instanceof AppError ? thrown.message : 'It could not be read.'
    return { text: `The file was not published. ${why}`, failed: true }
  }
}
