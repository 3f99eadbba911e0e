import type { Notification } from 'electron'
import type { NotificationPort } from '../notifications/index.ts'
import type { ElectronApi } from './electron-api.ts'

/** The system's notifications through Electron; silence where the system has none. */
export function systemNotifications({ Notification }: Pick<ElectronApi, 'Notification'>): NotificationPort {
  /** By tag. Electron forgets the events of a notification that nobody refers to. */
  const standing = new Map<string, Notification>()

  const close = (tag: string, notification: Notification): void => {
    if (standing.get(tag) === notification) standing.delete(tag)
    notification.close()
  }

  return {
    isAvailable: () => Notification.isSupported(),
    show({ tag, title, body, buttons }, events) {
      if (!Notification.isSupported()) return () => {}
      const notification = new Notification({
        title,
        body,
        actions: buttons.map((text) => ({ type: 'button', text })),
        timeoutType: 'never',
      })
      const earlier = standing.get(tag)
      standing.set(tag, notification)
      earlier?.close()
      notification.on('click', () => events.clicked())
      notification.on('action', (details) => events.pressed(details.actionIndex))
      notification.on('close', () => {
        if (standing.get(tag) !== notification) return
        standing.delete(tag)
        events.dismissed()
      })
      notification.show()
      return () => close(tag, notification)
    },
    stop() {
      for (const [tag, notification] of standing) close(tag, notification)
    },
  }
}
