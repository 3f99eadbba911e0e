import { useMutation } from '@tanstack/react-query'
import type { ArtifactFacts } from '../../../shared/events.ts'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'
import { saveAs } from '../../files/index.ts'
import { readArtifact } from './read-artifact.ts'

/** Keeps a published file where the person says, or where their browser keeps downloads. */
export function useSaveFile(sessionId: string, file: ArtifactFacts) {
  const bridge = useBridge()
  const change = useMutation<void, AppError>({
    mutationFn: async () => {
      const bytes = await readArtifact(bridge, sessionId, file.artifactId, new AbortController().signal)
      saveAs(new Blob([bytes], { type: file.mediaType }), file.filename)
    },
  })
  return {
    start: () => change.mutate(),
    pending: change.isPending,
    done: change.isSuccess,
    error: change.error,
  }
}
