import type { App, Session, Shell, WebContents } from 'electron'
import type { Log } from '../platform/index.ts'
import { ORIGIN } from './scheme.ts'

const EXTERNAL = /^https:\/\/[^\s/]+(?:\/|$)/

/**
 * What no page may do, whatever is in it: navigate, open windows, embed a webview, get a permission. A link that a person
 * clicked leaves through the system's browser, and only as https.
 */
export function lockDown(deps: {
  app: Pick<App, 'on'>
  shell: Pick<Shell, 'openExternal'>
  session: Pick<Session, 'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'setDevicePermissionHandler'>
  log: Log
}): void {
  const { app, shell, session, log } = deps
  session.setPermissionRequestHandler((_contents, permission, answer) => {
    log.warn('a page asked for a permission and was refused', { permission })
    answer(false)
  })
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  app.on('web-contents-created', (_event, contents: WebContents) => {
    contents.setWindowOpenHandler(({ url }) => {
      if (EXTERNAL.test(url)) void shell.openExternal(url)
      else log.warn('a page asked for a window and was refused', { scheme: schemeOf(url) })
      return { action: 'deny' }
    })
    contents.on('will-navigate', (event, url) => {
      if (url === `${ORIGIN}/` || url.startsWith(`${ORIGIN}/#`)) return
      event.preventDefault()
      log.warn('a navigation was refused', { scheme: schemeOf(url) })
    })
    contents.on('will-frame-navigate', (event) => {
      if (event.isMainFrame) return
      event.preventDefault()
    })
    contents.on('will-attach-webview', (event) => event.preventDefault())
  })
}

const schemeOf = (url: string): string => url.split(':', 1)[0]?.slice(0, 32) ?? ''
