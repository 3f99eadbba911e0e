import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { LOG_FILE, LOG_FILES } from './log.ts'

export interface LogLine {
  atMs: number
  level: 'debug' | 'info' | 'warn' | 'error'
  message: string
  fields: Readonly<Record<string, unknown>>
}

const Line = z.object({
  time: z.number(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  msg: z.string(),
  fields: z.record(z.string(), z.unknown()).default({}),
})

/**
 * The newest lines, oldest first: at most `maxLines`, and none that begins more than `maxBytes` before the end. What is no
 * log line (cut by a full disk) is left out.
 */
export async function readLogTail(
  dir: string,
  limits: { maxLines: number; maxBytes: number },
): Promise<readonly LogLine[]> {
  const lines: LogLine[] = []
  let bytesLeft = limits.maxBytes
  for (let index = 0; index < LOG_FILES && lines.length < limits.maxLines && bytesLeft > 0; index++) {
    const text = await readEnd(join(dir, index === 0 ? LOG_FILE : `${LOG_FILE}.${index}`), bytesLeft)
    bytesLeft -= Buffer.byteLength(text)
    lines.unshift(...text.split('\n').flatMap(parseLine))
  }
  return limits.maxLines > 0 ? lines.slice(-limits.maxLines) : []
}

async function readEnd(path: string, maxBytes: number): Promise<string> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = await file.stat()
    const start = Math.max(0, size - maxBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    const text = buffer.toString('utf8', 0, bytesRead)
    // The first line was cut, unless the reading began with the file.
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1)
  } finally {
    await file.close()
  }
}

function parseLine(text: string): LogLine[] {
  try {
    const { time, level, msg, fields } = Line.parse(JSON.parse(text))
    return [{ atMs: time, level, message: msg, fields }]
  } catch {
    return []
  }
}
