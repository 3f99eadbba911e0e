import type { SessionView } from '../../../shared/bridge/index.ts'
import { assertNever } from '../../../shared/errors.ts'
import type { DecisionItem, RunView, ToolItem, TranscriptItem } from '../../../shared/projection/index.ts'
import { answerText, formText } from '../../../shared/questions.ts'
import type { DecisionAction, ToolContent } from '../../../shared/vocabulary.ts'

export function headMarkdown(session: SessionView): string {
  const facts = [
    ['Agent', session.agentId],
    ['Model', session.choiceLabel],
    ['Folder', session.workDir],
    ['Begun', time(session.createdAt)],
  ]
  const lines = facts.map(([name, value]) => `- ${name}: ${code(String(value))}`)
  return `# ${oneLine(session.title) || 'Session'}\n\n${lines.join('\n')}\n`
}

export function turnMarkdown(run: RunView, session: SessionView): string {
  const attempt = run.attempt > 1 ? `, attempt ${run.attempt}` : ''
  const who = run.retryOf === null ? 'You' : 'Sent by “Try again”'
  const parts = [
    `\n## ${who}${run.createdAt > 0 ? `, ${time(run.createdAt)}` : ''}${attempt}\n`,
    quote(run.prompt),
    ...run.inputs.map(
      ({ filename, mediaType, bytes }) => `- Attached: ${code(filename)} (${mediaType}, ${bytes} bytes)`,
    ),
    `\n### ${session.agentId}\n`,
    ...run.items.map(itemMarkdown),
    ...run.artifacts.map(
      ({ filename, mediaType, bytes }) => `- File: ${code(filename)} (${mediaType}, ${bytes} bytes)`,
    ),
    `\n*${endOf(run)}*\n`,
  ]
  return `${parts.filter((part) => part !== '').join('\n')}\n`
}

function endOf(run: RunView): string {
  const { state, error } = run
  return error === null
    ? state.replaceAll('_', ' ')
    : `${state.replaceAll('_', ' ')}: ${oneLine(error.message)} (${error.code})`
}

function itemMarkdown(item: TranscriptItem): string {
  switch (item.kind) {
    case 'text':
      return `${item.text.trim()}\n`
    case 'thought':
      return `<details><summary>Thought</summary>\n\n${fence(item.text)}\n\n</details>\n`
    case 'tool':
      return toolMarkdown(item)
    case 'decision':
      return decisionMarkdown(item.decision)
    case 'steer':
      return `**You, meanwhile**\n\n${quote(item.text)}\n`
    case 'notice':
      return `*${oneLine(item.message)}*\n`
    default:
      return assertNever(item)
  }
}

function toolMarkdown({ tool, title, status, content }: ToolItem): string {
  const body = content.map(contentMarkdown).filter((part) => part !== '')
  return `- ${tool}: ${code(oneLine(title))} (${status.replaceAll('_', ' ')})\n${body.map((part) => `\n${part}\n`).join('')}`
}

function contentMarkdown(content: ToolContent): string {
  switch (content.type) {
    case 'text':
      return content.text.trim() === '' ? '' : fence(content.text)
    case 'output':
      return content.text.trim() === '' ? '' : fence(content.text)
    case 'diff':
      return change(content.path, content.oldText, content.newText)
    case 'blob':
      return `(${content.mediaType}, ${content.bytes} bytes, sha256 ${content.sha256})`
    default:
      return assertNever(content)
  }
}

function decisionMarkdown(decision: DecisionItem): string {
  const { title, status, answer, by } = decision
  const said =
    answer === null
      ? status.replaceAll('_', ' ')
      : 'option' in answer
        ? `${answer.option.replaceAll('_', ' ')}${answer.reason === undefined ? '' : `: ${oneLine(answer.reason)}`}`
        : oneLine('form' in answer ? answerText(answer.form) : answer.text)
  const who = by === null ? '' : ` (${by.via})`
  return `- ${decision.kind === 'question' ? 'Question' : 'Approval'}: ${code(oneLine(title))}: ${said}${who}\n\n${actionMarkdown(decision.action)}\n`
}

function actionMarkdown(action: DecisionAction): string {
  switch (action.kind) {
    case 'command':
      return fence(action.command)
    case 'edit':
      return action.changes.map(({ path, oldText, newText }) => change(path, oldText, newText)).join('\n\n')
    case 'mcp':
      return `${code(`${action.server} ${action.tool}`)}\n\n${fence(action.input)}`
    case 'other':
      return fence(action.text)
    case 'question':
      return fence(formText(action.form))
    default:
      return assertNever(action)
  }
}

function change(path: string, oldText: string | null, newText: string | null): string {
  const parts = [code(path)]
  if (oldText !== null) parts.push('before:', fence(oldText))
  if (newText !== null) parts.push('after:', fence(newText))
  return parts.join('\n\n')
}

/** A fence that is longer than any in the text: nothing of it ends its block. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}\n${text.replace(/\n$/, '')}\n${mark}`
}

function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const mark = '`'.repeat(longest + 1)
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return text === '' ? '' : `${mark}${pad}${text}${pad}${mark}`
}

const quote = (text: string): string =>
  text
    .split('\n')
    .map((each) => `> ${each}`)
    .join('\n')
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const time = (atMs: number): string => new Date(atMs).toISOString()
