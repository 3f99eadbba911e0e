import type { DecisionItem } from '../../shared/projection/index.ts'
import type { Actor, AnswerOption, Risk } from '../../shared/vocabulary.ts'

const ACTORS: Readonly<Record<Actor['via'], string>> = {
  window: 'another window',
  browser: 'a browser',
  notification: 'a notification',
  tray: 'the tray',
  cli: 'the command line',
  acp: 'an editor',
  policy: 'the rules of this mode',
  recovery: 'the recovery after a restart',
  agent: 'the agent itself',
}

const RISKS: Readonly<Record<Risk, string>> = { low: 'Low risk', medium: 'Medium risk', high: 'High risk' }

const ANSWERS: Readonly<Record<AnswerOption, string>> = {
  allow_once: 'Allowed once',
  allow_session: 'Allowed for this session',
  allow_project: 'Allowed in this project',
  reject_once: 'Denied',
  reject_session: 'Denied for this session',
}

const CLOSED: Readonly<Record<Exclude<DecisionItem['status'], 'pending' | 'resolved'>, string>> = {
  cancelled: 'Closed: the run was stopped',
  timed_out: 'Expired without an answer',
  withdrawn: 'Withdrawn by the agent',
}

const TOLD: Readonly<Record<'sent' | 'withdrawn' | 'lost', string>> = {
  sent: 'The answer reached the agent.',
  withdrawn: 'The agent had taken its question back before the answer came.',
  lost: 'The answer did not reach the agent.',
}

export const approvals = {
  heading: 'Approvals',
  pendingCount: (count: number) => (count === 1 ? '1 waits for you' : `${count} wait for you`),
  keysHint: 'J and K move, A allows once, D denies',
  pendingList: 'Waiting for you',
  settledList: 'Recently settled',
  empty: 'Nothing waits for you',
  emptyText: 'When an agent wants to run a command or change a file, its question stands here until somebody answers.',
  cardName: (title: string, session: string | null) => (session === null ? title : `${title}, in ${session}`),
  allowOnce: 'Allow once',
  allowSession: 'Allow for this session',
  allowProject: 'Always allow in this project',
  deny: 'Deny',
  denySession: 'Deny for this session',
  denyWithReason: 'Deny with a reason…',
  moreAnswers: 'More answers',
  named: (action: string, title: string) => `${action}: ${title}`,
  reason: 'Reason',
  sendDenial: 'Deny and send the reason',
  back: 'Cancel',
  reasonReaches: {
    in_answer: 'The agent reads the reason together with the refusal.',
    steer: 'This agent takes no reason with a refusal: it is sent into the running turn right after it.',
    next_prompt: 'This agent takes no reason with a refusal: it goes along with your next message.',
  },
  answer: 'Your answer',
  sendAnswer: 'Send answer',
  doNotAnswer: 'Do not answer',
  leftUnanswered: 'Left unanswered',
  ownWords: 'In your own words',
  optional: (label: string) => `${label} (optional)`,
  yesNo: (yes: boolean) => (yes ? 'Yes' : 'No'),
  risk: (risk: Risk) => RISKS[risk],
  waits: (relative: string) => (relative === 'now' ? 'asked just now' : `waits ${relative}`),
  waitsSince: (exact: string) => `asked ${exact}`,
  expiresIn: (relative: string) => `expires in ${relative}`,
  expired: 'expires now',
  expiresAt: (exact: string) => `expires ${exact}`,
  folder: 'Folder',
  session: 'Session',
  touches: 'Touches',
  server: 'MCP server',
  tool: 'Tool',
  command: 'Command',
  action: 'What the agent wants to do',
  wrapper: 'How the agent runs it',
  scrollFirst: 'Scroll to the end of the action first: nothing is allowed unseen.',
  loadFirst: 'The whole action is still being read.',
  loadFailed: 'Not all of the action could be read: it can only be denied.',
  nextPart: (shown: string, all: string) => `Show the next part (${shown} of ${all} shown)`,
  incomplete:
    'The agent did not hand over all of this action. What is missing cannot be shown; it is judged as high risk.',
  shortened: 'Shortened: the beginning and the end are shown.',
  answeredAs: (option: AnswerOption) => ANSWERS[option],
  answeredText: 'Answered',
  closedAs: (status: 'cancelled' | 'timed_out' | 'withdrawn') => CLOSED[status],
  answeredBy: (who: string, when: string) => `Answered by ${who}, ${when}`,
  ago: (relative: string) => (relative === 'now' ? 'just now' : `${relative} ago`),
  thisWindow: 'this window',
  actor: (via: Actor['via']) => ACTORS[via],
  told: (how: 'sent' | 'withdrawn' | 'lost') => TOLD[how],
  notToldYet: 'On its way to the agent.',
  reasonGiven: (reason: string) => `Reason: ${reason}`,
  tooLate: 'Your answer came too late and changed nothing.',
  openSession: (title: string) => `Open ${title}`,
} as const
