import type { Redirection } from 'unbash'
import { homeAsTilde, isSensitivePath } from './sensitive.ts'
import { high, low, medium } from './verdict.ts'
import type { Verdict } from './verdict.ts'
import { wordArg } from './words.ts'

const HARMLESS = /^\/dev\/(?:null|stdin|stdout|stderr|tty|fd\/\d+)$/
const NETWORK = /^\/dev\/(?:tcp|udp)(?:\/|$)/
const NOTHING = low('Only redirects.')

/** What a redirect does by itself, whoever runs behind it. */
export function judgeRedirect(redirect: Redirection): Verdict {
  if (redirect.type !== 'Redirect' || redirect.target === undefined) return NOTHING
  const target = wordArg(redirect.target)
  const path = homeAsTilde(target.text).replace(/\/{2,}/g, '/')
  if (NETWORK.test(path)) return high('Opens a network connection through a redirect (/dev/tcp).')
  switch (redirect.operator) {
    case '<':
    case '<&':
      return NOTHING
    case '>&':
      if (/^(?:\d+-?|-)$/.test(target.text)) return NOTHING
      break
    default:
  }
  if (target.processSubstitution || HARMLESS.test(path)) return NOTHING
  if (path.startsWith('/dev/')) return high(`Writes to the device ${path}.`)
  if (isSensitivePath(path)) return high(`Writes to a protected place (${path}).`)
  return medium(target.literal ? `Writes to the file ${path}.` : 'Writes to a file whose name is computed.')
}

/** The command behind this redirect reads text that was written into the command, or another command's output. */
export function feedsInput(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return true
  if (redirect.operator !== '<' && redirect.operator !== '<>' && redirect.operator !== '<&') return false
  return redirect.target !== undefined && wordArg(redirect.target).processSubstitution
}
