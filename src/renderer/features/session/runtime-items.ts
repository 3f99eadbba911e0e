import type { ConfigView, SessionView } from '../../../shared/bridge/index.ts'
import type { Effort, RuntimeChoice } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import type { SelectItem } from '../../ui/index.ts'
import { mostModels } from '../providers/index.ts'

type Offer = ConfigView['choices'][number]

/** Connection and model of a choice in one word; the effort is chosen beside them. */
export const keyOf = ({ connectionId, modelId }: RuntimeChoice): string => JSON.stringify([connectionId, modelId])

/** Every choice, and the present one even if it is no longer offered. `led`: what is to be said of the agent's own login. */
export function choiceItems(
  config: ConfigView,
  session: SessionView,
  led: string | null,
): readonly SelectItem<string>[] {
  const present = keyOf(config.choice)
  const items = config.choices.map((offer) => {
    const { connectionId } = offer.choice
    const value = keyOf(offer.choice)
    const { note, disabled = false } = value === present && offer.ready ? {} : beforehand(offer, session)
    const notes = [connectionId === null ? led : null, note].filter((each) => each != null)
    return {
      value,
      label: offer.label,
      disabled,
      connectionId,
      ...(notes.length === 0 ? {} : { note: notes.join('; ') }),
    }
  })
  const shown = mostModels(items, present, (item) => item.connectionId)
  return shown.some((item) => item.value === present)
    ? shown
    : [{ value: present, label: session.choiceLabel }, ...shown]
}

/** The efforts of the model that runs; the present one among them whatever the catalog says now. */
export function effortItems({ choice, choices }: ConfigView, running: boolean): readonly SelectItem<Effort>[] {
  const present = choices.find((offer) => keyOf(offer.choice) === keyOf(choice))
  if (present === undefined || present.efforts.length === 0) return []
  const note = running ? whenOf(present.effect) : null
  return [...new Set<Effort>(['default', ...present.efforts, choice.effort])].map((effort) => ({
    value: effort,
    label: strings.session.efforts[effort],
    ...(note === null || effort === choice.effort ? {} : { note }),
  }))
}

/** What a person should know before choosing it: what it costs the history, and when it counts if an agent is at work. */
function beforehand(
  { choice, ready, effect }: Offer,
  { activeRun }: SessionView,
): Pick<SelectItem<string>, 'note' | 'disabled'> {
  const { effects, notReady } = strings.session
  if (!ready) return { note: notReady, disabled: true }
  if (effect?.kind !== 'refused') {
    const note = activeRun === null ? null : whenOf(effect)
    return note === null ? {} : { note }
  }
  if (effect.code !== 'route_binding_incompatible') {
    return { note: strings.providers.refused(effect.code), disabled: true }
  }
  // No Router of ours stands before the agent's own login, so nothing can be cut on the way there.
  return choice.connectionId === null ? { note: effects.newSession, disabled: true } : { note: effects.strips }
}

function whenOf(effect: Offer['effect']): string | null {
  const { effects } = strings.session
  if (effect === null) return effects.unknown
  return effect.kind === 'refused' ? null : effects[effect.kind]
}
