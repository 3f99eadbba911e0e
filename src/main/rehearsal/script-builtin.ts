/** The script for the built-in agent's tools: list, read, propose an edit, run a command, say what was done. */
import { markerFor, passageOf, textFileIn } from './script-files.ts'
import { afterRefusal, closing, firstLine, refusalOf, said } from './script-words.ts'
import type { Conversation, Move, ToolStep } from './types.ts'

const NEW_FILE = 'rehearsal.md'
/** How the agent begins the result of a change that took place. */
const CHANGED = /^(?:Edited|Created|Wrote) /

export function nextBuiltinMove(conversation: Conversation): Move {
  const last = conversation.steps.at(-1)
  if (last === undefined) {
    return {
      ...said('This is a rehearsal, played by a script. I look for a text file, read it and propose one added line.'),
      call: { tool: 'list', input: { path: '.' } },
    }
  }
  const refused = refusalOf(last, conversation.steering)
  if (refused !== null) return said(afterRefusal(last, refused, conversation.steps))
  switch (last.name) {
    case 'list':
      return afterList(last)
    case 'read':
      return afterRead(last)
    case 'edit':
    case 'write':
      return afterChange(last)
    default:
      return closing(conversation, whatWasDone(conversation.steps))
  }
}

function afterList(list: ToolStep): Move {
  const file = textFileIn(list.result?.text ?? '')
  if (file === null) return proposeNewFile('There is no text file here, so I propose a new one.')
  return { ...said(`I read \`${file}\`.`), call: { tool: 'read', input: { path: file } } }
}

function afterRead(read: ToolStep): Move {
  const path = textOf(read, 'path')
  const content = read.result?.text ?? ''
  const passage = passageOf(content)
  if (read.result === null || read.result.isError || passage === null) {
    return proposeNewFile(`\`${path}\` gives nothing to work on, so I propose a new file.`)
  }
  const input = {
    path,
    old_text: passage.text,
    new_text: `${passage.text}${passage.newline}${markerFor(path, content)}`,
  }
  return { ...said(`I propose to add one line to \`${path}\`, below its first.`), call: { tool: 'edit', input } }
}

function proposeNewFile(text: string): Move {
  const content = `# Rehearsal\n\n${markerFor(NEW_FILE, '')}\n`
  return { ...said(text), call: { tool: 'write', input: { path: NEW_FILE, content } } }
}

function afterChange(change: ToolStep): Move {
  const path = textOf(change, 'path')
  const result = change.result?.text ?? ''
  if (change.result?.isError === true || !CHANGED.test(result)) {
    return said(`The change to \`${path}\` did not go through: ${firstLine(result)} I leave it at that.`)
  }
  const file = quoted(path)
  return {
    ...said(`The change is in \`${path}\`. I make sure that the file stays writable, and count its bytes.`),
    call: { tool: 'bash', input: { command: `chmod u+w -- ${file} && wc -c -- ${file}` } },
  }
}

function whatWasDone(steps: readonly ToolStep[]): string {
  const change = steps.find((step) => step.name === 'edit' || step.name === 'write')
  const path = change === undefined ? NEW_FILE : textOf(change, 'path')
  const bytes = /^\s*(\d+)\s/.exec(steps.at(-1)?.result?.text ?? '')?.[1]
  const did = change?.name === 'write' ? `I created \`${path}\`` : `I added one line to \`${path}\``
  return `${did} and ran a command on it.${bytes === undefined ? '' : ` The file now has ${bytes} bytes.`}`
}

function textOf(step: ToolStep, name: string): string {
  const value = step.input[name]
  return typeof value === 'string' ? value : ''
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
