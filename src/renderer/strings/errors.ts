export const errors = {
  /** Under a field. */
  missing: 'Fill this in first.',
  noAddress: 'That is no address: it begins with https:// or http://.',
  retry: 'Retry',
  copyDetails: 'Copy details',
  copied: 'Copied',
} as const
