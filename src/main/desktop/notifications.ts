import type { Notification } from 'electron'
import type { NotificationPort } from './announcer.ts'
import type { ElectronApi } from './electron-api.ts'

/** The system's notifications through Electron; silence where the system has none. */
export function systemNotifications({ Notification }: Pick<ElectronApi, 'Notification'>): NotificationPort {
  /** Electron forgets the events of a notification that nobody refers to. */
  const standing = new Set<Notification>()
  return {
    show({ title, body, buttons }, events) {
      if (!Notification.isSupported()) return () => {}
      const notification = new Notification({
        title,
        body,
        actions: buttons.map((text) => ({ type: 'button', text })),
        timeoutType: 'never',
      })
      standing.add(notification)
      notification.on('click', () => events.clicked())
      notification.on('action', (details) => events.pressed(details.actionIndex))
      notification.on('close', () => {
        if (standing.delete(notification)) events.dismissed()
      })
      notification.show()
      return () => {
        standing.delete(notification)
        notification.close()
      }
    },
  }
}
