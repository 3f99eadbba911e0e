export const ownAgents = {
  add: 'Add an agent…',
  title: 'Add an agent',
  about:
    'Any program that speaks the Agent Client Protocol. It is started with its own login, in the folder of each session.',
  name: 'Name',
  namePlaceholder: 'Gemini',
  command: 'Command',
  commandHint: 'The program and its arguments, such as “gemini --acp”. No shell runs it.',
  passEnv: 'Variables it is given',
  passEnvHint:
    'Names, separated by blanks, such as GEMINI_API_KEY. Their values are taken from this machine each time.',
  check: 'Check and add',
  addEvenSo: 'Add it anyway',
  cancel: 'Cancel',
  done: 'Done',
  checking: (seconds: number) => `Checking… ${seconds} s`,
  failed: 'It was not added: a check failed.',
  added: (name: string, id: string) => `${name} was added. On a command line it is ${id}.`,
  remove: 'Remove',
  removeNamed: (name: string) => `Remove: ${name}`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: 'Its sessions stay and can be read, but take no more prompts.',
} as const
