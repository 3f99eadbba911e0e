import type { DeliveryTransport } from '../runtime/index.ts'

const MAX_BODY_CHARS = 400
const characters = new Intl.Segmenter()

/** Shows a notification of the system. One with the tag of an earlier one takes its place. */
export type ShowNotification = (notification: { tag: string; title: string; body: string }) => void

/** The beginning of an answer as a notification of the system, for a shell that can show one. */
export function createNotificationDelivery(show: ShowNotification): DeliveryTransport {
  return {
    id: 'os_notification',
    capability: { text: true, image: false, file: false, video: false },
    isIdempotent: () => true,
    async execute({ idempotencyKey, target, payload }) {
      const { title } = target.context
      const chars = Array.from(characters.segment(payload.trim()), ({ segment }) => segment)
      const body = chars.length > MAX_BODY_CHARS ? `${chars.slice(0, MAX_BODY_CHARS - 1).join('')}…` : chars.join('')
      show({ tag: idempotencyKey, title: typeof title === 'string' ? title : 'Wheelhouse', body })
      return { status: 'delivered' }
    },
  }
}
