/** Every setting of the product: what it may be, what it is at first, and what it is for. */
import { z } from 'zod'
import { TargetRuns } from './vocabulary.ts'

interface Setting<Schema extends z.ZodType> {
  readonly schema: Schema
  readonly default: z.output<Schema>
  /** One line for people. */
  readonly about: string
}

function setting<Schema extends z.ZodType>(of: Setting<Schema>): Setting<Schema> {
  return of
}

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

/** A login in the address would stand in the settings file in plain text. */
const ProxyUrl = z
  .url({ protocol: /^https?$/, hostname: z.regexes.hostname })
  .max(2_048)
  .regex(/^[^@]*$/)

const target = { id: z.uuid(), name: z.string().min(1).max(80), enabled: z.boolean(), runs: TargetRuns }

/** A place that answers are sent to. What is secret of it lies in the credential store, under its id and `secretRev`. */
export const DeliveryTargetSetting = z.discriminatedUnion('kind', [
  z.strictObject({
    ...target,
    kind: z.literal('webhook'),
    /** Scheme, host and port of the address: the rest of it may be a key. */
    origin: z.string().max(2_048),
    hasToken: z.boolean(),
    idempotencyHeader: z.string().max(64).nullable(),
    secretRev: z.int().min(1),
  }),
  z.strictObject({ ...target, kind: z.literal('file_drop'), folder: z.string().min(1).max(4_096) }),
  z.strictObject({ ...target, kind: z.literal('os_notification') }),
])
export type DeliveryTargetSetting = z.infer<typeof DeliveryTargetSetting>

export const SETTINGS = {
  theme: setting({ schema: z.enum(['system', 'light', 'dark']), default: 'system', about: 'Light or dark.' }),
  keepInTray: setting({
    schema: z.boolean(),
    default: true,
    about: 'The app keeps working in the tray when its last window closes.',
  }),
  notifications: setting({
    schema: z.boolean(),
    default: true,
    about: 'Tell you outside of the window when an agent asks, finishes or fails.',
  }),
  doNotDisturb: setting({
    schema: z.strictObject({ from: TimeOfDay, to: TimeOfDay }).nullable(),
    default: null,
    about: "Hours without notifications, by this machine's clock.",
  }),
  defaultMode: setting({
    schema: z.enum(['plan', 'agent', 'yolo']),
    default: 'agent',
    about: 'The mode in which a new session starts.',
  }),
  osModeEnabled: setting({
    schema: z.boolean(),
    default: false,
    about: 'Offer the mode in which an agent asks for nothing and may do anything you may.',
  }),
  runsAtOnce: setting({
    schema: z.int().min(1).max(32),
    default: 8,
    about: 'How many runs work at once; more wait in line. A change counts from the next start.',
  }),
  unattendedAnswerMinutes: setting({
    schema: z.int().min(1).max(1_440),
    default: 10,
    about:
      'How long a run that nobody watches, such as that of a schedule, waits for your answer before it goes on without.',
  }),
  requestBodyCapMiB: setting({
    schema: z.int().min(1).max(128),
    default: 32,
    about: 'The largest request of an agent to a model, in MiB.',
  }),
  gatewayPort: setting({
    schema: z.int().min(1_024).max(65_535),
    default: 38_777,
    about: 'The port of the gateway for agents that you start yourself. A change counts from the next start.',
  }),
  keepTakeoverOnQuit: setting({
    schema: z.boolean(),
    default: false,
    about:
      'Leave the config files of agents pointed at the gateway when Wheelhouse quits. Until it runs again they wait.',
  }),
  requestInspector: setting({
    schema: z.boolean(),
    default: true,
    about:
      'Keep a list of the newest requests to models while Wheelhouse runs: when, where to and how long, never what.',
  }),
  upstreamProxy: setting({
    schema: z.union([z.enum(['none', 'system']), ProxyUrl]),
    default: 'none',
    about: "How requests leave this machine: directly, by the system's proxy, or by the one at an address.",
  }),
  deliveryTargets: setting({
    schema: z.array(DeliveryTargetSetting).max(8),
    default: [],
    about: 'Where answers are sent to, beside this window.',
  }),
  welcomeDone: setting({
    schema: z.boolean(),
    default: false,
    about: 'The first steps were taken or skipped.',
  }),
  webPort: setting({
    schema: z.int().min(1_024).max(65_535).nullable(),
    default: null,
    about: 'The port of the browser host; the first one that was free is kept.',
  }),
}

export type SettingKey = keyof typeof SETTINGS
export type SettingValues = { readonly [Key in SettingKey]: z.output<(typeof SETTINGS)[Key]['schema']> }

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key)
}

export function defaultSettings(): SettingValues {
  return withDefaults({})
}

/** What was chosen, and the default of everything else. */
export function withDefaults(chosen: Partial<SettingValues>): SettingValues {
  const defaults = Object.entries(SETTINGS).map(([key, { default: value }]) => [key, value])
  return { ...(Object.fromEntries(defaults) as SettingValues), ...chosen }
}

/** A settings file: known keys must hold what they may, unknown ones are another version's and stay. */
export const SettingsFile = z.looseObject(
  Object.fromEntries(Object.entries(SETTINGS).map(([key, { schema }]) => [key, z.optional(schema)])),
)
