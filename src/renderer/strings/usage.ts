export const usage = {
  heading: 'Usage',
  intro:
    'What your sessions, and other agents through the gateway, asked of your Providers, as those counted it. Agents on their own login are not among it.',
  by: 'Group by',
  groups: { day: 'Day', session: 'Session', connection: 'Provider', model: 'Model' },
  period: 'Period',
  periods: { 1: 'Today and yesterday', 7: '7 days', 30: '30 days', 90: '90 days', 366: 'A year' },
  loading: 'Adding up…',
  empty:
    'Nothing was counted in this time. Requests of sessions on a Provider are, and those that came by the gateway.',
  table: (group: string, period: string) => `Usage by ${group.toLowerCase()}, ${period}`,
  requests: 'Requests',
  failed: 'Failed',
  input: 'Input',
  written: 'Into cache',
  cached: 'From cache',
  output: 'Output',
  firstByte: 'First byte',
  whole: 'Whole answer',
  charts: { requests: 'Requests', tokens: 'Tokens', times: 'Time, on average' },
  /** Names a chart to whom does not see it: the table holds its figures. */
  chart: (what: string, group: string, period: string) =>
    `${what} by ${group.toLowerCase()}, ${period}. The table below has the figures.`,
  done: 'Answered',
  most: (shown: number) => `The ${shown} with the most requests are drawn; the table has all.`,
  total: 'Total',
  unknown: 'not said',
  gateway: 'Through the gateway',
  goneSession: 'A session that is no longer there',
  goneConnection: 'A Provider that is no longer there',
} as const
