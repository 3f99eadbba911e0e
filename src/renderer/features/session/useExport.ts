import { useMutation } from '@tanstack/react-query'
import type { Bridge } from '../../../shared/bridge/client.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'
import { saveAs } from '../../files/index.ts'

export type ExportFormat = 'markdown' | 'jsonl'

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  markdown: 'text/markdown',
  jsonl: 'application/jsonl',
}

/** Saves the whole session as a file. */
export function useExport(sessionId: string) {
  const bridge = useBridge()
  const change = useMutation<void, AppError, ExportFormat>({
    mutationFn: async (format) => {
      const { filename, parts } = await readAll(bridge, sessionId, format)
      saveAs(new Blob(parts, { type: MEDIA_TYPES[format] }), filename)
    },
  })
  return { start: (format: ExportFormat) => change.mutate(format), pending: change.isPending, error: change.error }
}

/** The newest turns come first. */
async function readAll(bridge: Bridge, sessionId: string, format: ExportFormat) {
  const parts: string[] = []
  let before: string | undefined
  for (;;) {
    const page = await bridge.call('sessions.export', {
      sessionId,
      format,
      ...(before === undefined ? {} : { before }),
    })
    parts.unshift(page.text)
    if (page.before === null) return { filename: page.filename, parts }
    before = page.before
  }
}
