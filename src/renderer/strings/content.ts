export const content = {
  fold: 'Show less',
  moreLines: (count: number) => `Show ${count} more ${count === 1 ? 'line' : 'lines'}`,
  cut: (chars: number) => `${chars.toLocaleString('en')} more characters are not shown.`,
  newFile: 'new file',
  removedFile: 'removed',
  sideBySide: 'Side by side',
  diffOf: (path: string) => `Changes of ${path}`,
  changedLines: 'Changed lines',
  changes: (added: number, removed: number) => `${added} added, ${removed} removed`,
  table: 'Table',
  inertLink: 'This link is not opened from here.',
  imageNotLoaded: (alt: string) => (alt === '' ? 'Image, not loaded' : `Image "${alt}", not loaded`),
} as const
