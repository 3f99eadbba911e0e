export const errors = {
  retry: 'Retry',
  copyDetails: 'Copy details',
  copied: 'Copied',
} as const
