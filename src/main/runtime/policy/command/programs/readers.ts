/** Programs that only read, and the shell's own harmless words. */
import { assignedName, judgeAssignment } from '../assignments.ts'
import type { Judge, ProgramTable } from '../program.ts'
import { low, medium, worse } from '../verdict.ts'
import type { Verdict } from '../verdict.ts'

const READERS =
  'ls cat head tail wc echo grep egrep fgrep which type pwd cd printenv stat du df diff cmp comm cut tr column od strings ' +
  'basename dirname realpath readlink uname id whoami jq sha256sum sleep test [ [[ (( true false : set return ' +
  'break continue shift exit'

const reads: Judge = ({ name }) => low(`Only reads or prints (${name}).`)

/** `export PATH=…` sets as the bare assignment does; a name without a value may hand on what was set before. */
const declares: Judge = ({ name, args }) => {
  let verdict: Verdict = low(`Only sets variables (${name}).`)
  for (const { text } of args) {
    // Under another name any variable can be set.
    if (name !== 'read' && /^-[a-zA-Z]*n/.test(text))
      verdict = worse(verdict, medium(`Gives a variable another name (${name} ${text}).`))
    const variable = assignedName(text) ?? (/^[A-Za-z_]\w*$/.test(text) ? text : null)
    if (variable !== null) verdict = worse(verdict, judgeAssignment(variable))
  }
  return verdict
}

const printf: Judge = ({ args }) => {
  const [option, variable] = args
  const name = option?.text === '-v' ? variable?.text : /^-v(.+)/.exec(option?.text ?? '')?.[1]
  return name === undefined
    ? low('Only prints (printf).')
    : worse(low('Only sets variables (printf).'), judgeAssignment(name))
}

export const READING: ProgramTable = [
  [READERS, reads],
  ['export local read declare typeset readonly', declares],
  ['printf', printf],
]
