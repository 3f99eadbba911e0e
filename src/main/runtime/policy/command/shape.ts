/** The shape of a command text, for rules that a person made of its beginning. */
import { forEachChild, parse } from 'unbash'
import type { SyntaxNode } from 'unbash'
import { argumentArg, wordArg } from './words.ts'

/**
 * One command, every word of it plain: no list, pipe, redirect, variable or substitution. Only of such a text does the
 * beginning say what runs.
 */
export function isSingleCommand(text: string): boolean {
  try {
    const script = parse(text)
    const [statement] = script.commands
    if ((script.errors?.length ?? 0) > 0 || script.commands.length !== 1 || statement === undefined) return false
    const { command, background } = statement
    if (command.type !== 'Command' || background === true || command.name === undefined) return false
    if (command.prefix.length > 0 || command.redirects.length > 0) return false
    return wordArg(command.name).literal && command.args.every((arg) => argumentArg(arg).literal)
  } catch {
    return false
  }
}

/** Each simple command in the text, from its name on. */
export function startsOfCommands(text: string): string[] {
  const found: string[] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command' && node.name !== undefined) {
      found.push([wordArg(node.name).text, ...node.args.map((arg) => argumentArg(arg).text)].join(' '))
    }
    forEachChild(node, visit)
  }
  try {
    visit(parse(text))
  } catch {
    // The text as a whole is compared as well; what cannot be parsed has been classified as high.
  }
  return found
}
