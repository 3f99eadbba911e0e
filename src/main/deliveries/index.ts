/** What carries a run's answer to where it goes. The only door of this folder: transports for the runtime's outbox. */
export { createFileDrop } from './file-drop.ts'
export type { FileDropDeps } from './file-drop.ts'
export { createNotificationDelivery } from './os-notification.ts'
export type { ShowNotification } from './os-notification.ts'
export { createWebhook } from './webhook.ts'
export type { WebhookDeps, WebhookEndpoint } from './webhook.ts'
