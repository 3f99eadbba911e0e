/** Of a list that is narrowed by words. */
export const lists = {
  search: 'Search',
  searchIn: (list: string) => `Search: ${list}`,
  noMatch: 'Nothing matches.',
} as const
