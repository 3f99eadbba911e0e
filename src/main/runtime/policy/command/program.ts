/** What a program's table entry is given, and what it answers. */
import type { Verdict } from './verdict.ts'
import type { Arg } from './words.ts'

/**
 * Where the command's input comes from. `piped`: from another command or from text inside this one; `unclear`: the
 * command stands in a function or under `xargs`, so a caller may feed it.
 */
export type Fed = 'nothing' | 'unclear' | 'piped'

export interface Invocation {
  /** As the tables know it. */
  name: string
  /** Everything behind the name. */
  args: readonly Arg[]
  fed: Fed
  /** A here-document or here-string is attached. */
  hereText: boolean
  /** Further words are added to it by `xargs`, unseen. */
  appended: boolean
  /** Started once per item by `xargs` or `find -exec`. */
  bulk: boolean
  /** Found behind a program whose options are not known: no second one is looked behind. */
  led: boolean
  /** Judges words as a command of its own. */
  judgeWords(words: readonly Arg[], change?: { fed?: Fed; appended?: boolean; bulk?: boolean; led?: boolean }): Verdict
  /** Judges a text that the program hands to a shell. */
  judgeText(arg: Arg): Verdict
}

/** Null: nothing special, the command is as unknown as any other. */
export type Judge = (call: Invocation) => Verdict | null

export type ProgramTable = readonly (readonly [names: string, judge: Judge])[]
