import { useMutation } from '@tanstack/react-query'
import type { AppError } from '../../../shared/errors.ts'
import { useBridge } from '../../bridge/index.ts'
import { saveAs } from '../../files/index.ts'
import { strings } from '../../strings/index.ts'
import { Button, ErrorNote } from '../../ui/index.ts'

/** Saves what somebody needs who is to find out what is wrong here. */
export function ExportDiagnostics() {
  const bridge = useBridge()
  const { isPending, error, mutate } = useMutation<void, AppError>({
    mutationFn: async () => {
      const { filename, base64 } = await bridge.call('diagnostics.export', {})
      const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
      saveAs(new Blob([bytes], { type: 'application/zip' }), filename)
    },
  })
  const { health } = strings
  return (
    <div>
      <Button pending={isPending} onClick={() => mutate()}>
        {isPending ? health.diagnosing : health.diagnostics}
      </Button>
      {error !== null && <ErrorNote error={error} onRetry={() => mutate()} />}
    </div>
  )
}
