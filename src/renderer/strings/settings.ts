import type { SettingKey } from '../../shared/settings.ts'

const LABELS: Readonly<Record<SettingKey, string>> = {
  theme: 'Theme',
  keepInTray: 'Keep in tray',
  notifications: 'Notifications',
  doNotDisturb: 'Do not disturb',
  defaultMode: 'Default mode',
  osModeEnabled: 'Unbound mode',
  runsAtOnce: 'Runs at once',
  unattendedAnswerMinutes: 'Wait for an answer',
  requestBodyCapMiB: 'Request size limit',
  gatewayPort: 'Gateway port',
  keepTakeoverOnQuit: 'Keep agents on the gateway',
  requestInspector: 'List requests',
  upstreamProxy: 'Proxy',
  deliveryTargets: 'Where answers go',
  welcomeDone: 'First steps',
  webPort: 'Browser port',
}

export const settings = {
  heading: 'Settings',
  sections: {
    appearance: 'Appearance',
    agents: 'Agents',
    attention: 'Window and notifications',
    network: 'Network',
  },
  label: (key: SettingKey) => LABELS[key],
  themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  modes: {
    plan: 'Plan: reads, changes nothing',
    agent: 'Ask: asks before what is not harmless',
    yolo: 'Allow: acts without asking',
  },
  osWarning:
    'In this mode an agent runs every command and changes every file without asking, as you, on this machine. Nothing it does is held back, and what it deletes is gone.',
  osConfirmTitle: 'Offer the unbound mode?',
  osConfirm: 'Offer it',
  cancel: 'Cancel',
  proxies: { none: 'None', system: 'As the system', address: 'An address' },
  proxyAddress: 'Address of the proxy',
  proxyHint: 'As http://proxy.example.com:3128',
  proxyNote:
    'A proxy resolves names itself: what a name leads to is then not checked here. This machine itself is always reached directly.',
  notAProxy: 'An http or https address without a login, such as http://proxy.example.com:3128.',
  mib: 'MiB',
  runs: 'Runs',
  minutes: 'Minutes',
  port: 'Port',
  portEmpty: 'Empty: any free one. A change counts from the next start.',
  from: 'From',
  to: 'To',
  timeHint: 'As 22:00',
  save: 'Save',
  outOfRange: (min: number, max: number) =>
    `A whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}.`,
  notATime: 'A time of day, such as 07:30.',
  notDurable: 'Saved, but a power failure may still undo it.',
} as const
