/** A browser may read the bytes only after the click. */
const KEPT_MS = 60_000

/** Hands bytes to the browser, or to the desktop's own dialog, as a file of this name. */
export function saveAs(content: Blob, filename: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = filename
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
