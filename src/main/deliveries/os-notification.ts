import type { DeliveryTransport } from '../runtime/index.ts'

const MAX_BODY_CHARS = 400
const characters = new Intl.Segmenter()

/** Shows a notification of the system. One with the tag of an earlier one takes its place. `quiet`: nobody wants any now. */
export type ShowNotification = (notification: {
  tag: string
  title: string
  body: string
  /** Whose answer it is, where it is a session's. */
  sessionId: string | null
}) => 'shown' | 'quiet' | 'unavailable'

/** The beginning of an answer as a notification of the system, where the host's shell can show one. */
export function createNotificationDelivery(show: ShowNotification): DeliveryTransport {
  return {
    id: 'os_notification',
    capability: { text: true, image: false, file: false, video: false },
    isIdempotent: () => true,
    async execute({ idempotencyKey, target, payload }) {
      const { title, sessionId } = target.context
      const chars = Array.from(characters.segment(payload.trim()), ({ segment }) => segment)
      const body = chars.length > MAX_BODY_CHARS ? `${chars.slice(0, MAX_BODY_CHARS - 1).join('')}…` : chars.join('')
      const how = show({
        tag: idempotencyKey,
        title: typeof title === 'string' && title !== '' ? title : 'Wheelhouse',
        body,
        sessionId: typeof sessionId === 'string' ? sessionId : null,
      })
      if (how === 'shown') return { status: 'delivered' }
      // Hours later nobody has a use for it.
      return how === 'quiet'
        ? { status: 'unsupported', failureCode: 'notification_quiet' }
        : { status: 'failed', failureCode: 'notification_unavailable' }
    },
  }
}
