/** Rights, disks, processes, services, firewalls. */
import type { Judge, ProgramTable } from '../program.ts'
import { high, low, medium } from '../verdict.ts'
import { hasLong, hasShort, operandsOf, optionsOf } from '../words.ts'

const DISKS = 'dd shred wipefs fdisk sfdisk sgdisk parted mkswap cryptsetup'

const always =
  (reason: (name: string) => string): Judge =>
  ({ name }) =>
    high(reason(name))

const kill: Judge = ({ args }) => {
  const texts = args.map((arg) => arg.text.toUpperCase())
  const hard = texts.some((text, at) => {
    if (/^-(?:SIG)?(?:9|KILL)$/.test(text) || /^(?:-[SN]|--SIGNAL=)(?:SIG)?(?:9|KILL)$/.test(text)) return true
    return /^(?:-S|-N|--S[A-Z]*)$/.test(text) && /^(?:SIG)?(?:9|KILL)$/.test(texts[at + 1] ?? '')
  })
  return hard ? high('Kills processes at once (kill -9).') : medium('Sends a signal to processes.')
}

const SERVICE_OPTIONS = {
  short: 'HMtpns',
  long: ['--host', '--machine', '--type', '--property', '--state', '--output', '--lines', '--root', '--signal'],
}

const services: Judge = ({ name, args }) => {
  const options = optionsOf(args)
  if (
    options.some((option) => /^-[alqrT]*[HM]/.test(option)) ||
    ['host', 'machine'].some((long) => hasLong(options, long))
  )
    return medium(`Reaches the services of another machine (${name}).`)
  const verb = operandsOf(args, SERVICE_OPTIONS)[0]
  if (verb === undefined) {
    return optionsOf(args).length === args.length
      ? low(`Lists services (${name}).`)
      : high(`Changes services (${name}).`)
  }
  if (/^(?:status|list(?:-[a-z-]+)?|show|cat|print)$/.test(verb.text))
    return low(`Shows services (${name} ${verb.text}).`)
  if (/^(?:start|restart|reload)$/.test(verb.text)) return medium(`Starts a service (${name} ${verb.text}).`)
  return high(`Changes services (${name} ${verb.text}).`)
}

const crontab: Judge = ({ args }) => {
  const options = optionsOf(args)
  if (hasShort(options, 'r')) return high('Deletes the scheduled commands (crontab -r).')
  if (options.length === 1 && options[0] === '-l' && args.length === 1) return low('Lists the scheduled commands.')
  return medium('Changes the scheduled commands.')
}

const rsync: Judge = ({ args }) =>
  hasLong(optionsOf(args), 'delete') || optionsOf(args).some((option) => option.startsWith('--del'))
    ? high('Deletes files that the source does not have (rsync --delete).')
    : medium('Copies files (rsync).')

export const SYSTEM: ProgramTable = [
  ['sudo su doas pkexec run0 runas', always((name) => `Runs with other rights (${name}).`)],
  [DISKS, always((name) => `Writes to a disk or overwrites data (${name}).`)],
  ['dropdb', always(() => 'Deletes a database (dropdb).')],
  ['killall pkill', always((name) => `Ends processes by name (${name}).`)],
  ['shutdown reboot halt poweroff init telinit', always((name) => `Stops or restarts the machine (${name}).`)],
  ['iptables nft ufw firewall-cmd pfctl', always((name) => `Changes the firewall (${name}).`)],
  ['kill', kill],
  ['systemctl launchctl', services],
  ['crontab', crontab],
  ['rsync', rsync],
]

/** `mkfs` and every `mkfs.<type>`. */
export const makeFileSystem: Judge = always((name) => `Formats a disk (${name}).`)
