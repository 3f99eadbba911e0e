import { useEffect, useEffectEvent, useState } from 'react'

/** Files that are dropped anywhere on the window, and whether some are above it now. */
export function useFileDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false)
  const onDrop = useEffectEvent((event: DragEvent): void => {
    setOver(false)
    if (!carriesFiles(event)) return
    event.preventDefault()
    onFiles([...(event.dataTransfer?.files ?? [])])
  })
  useEffect(() => {
    const onOver = (event: DragEvent): void => {
      if (!carriesFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy'
      setOver(true)
    }
    // Leaving one element for another inside of the window has somewhere to go.
    const onLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false)
    }
    window.addEventListener('dragover', onOver)
    window.addEventListener('dragleave', onLeave)
    window.addEventListener('drop', onDrop)
    return () => {
      window.removeEventListener('dragover', onOver)
      window.removeEventListener('dragleave', onLeave)
      window.removeEventListener('drop', onDrop)
    }
  }, [])
  return over
}

export function carriesFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes('Files') === true
}
