import { useEffect } from 'react'
import { carriesFiles } from '../features/attachments/index.ts'

/** A file that is dropped where nobody takes it would replace the page: it is let fall instead. */
export function useStrayDrops(): void {
  useEffect(() => {
    const ignore = (event: DragEvent): void => {
      if (event.defaultPrevented || !carriesFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none'
    }
    window.addEventListener('dragover', ignore)
    window.addEventListener('drop', ignore)
    return () => {
      window.removeEventListener('dragover', ignore)
      window.removeEventListener('drop', ignore)
    }
  }, [])
}
