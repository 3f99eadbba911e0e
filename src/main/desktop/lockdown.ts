import type { App, Session, Shell, WebContents } from 'electron'
import type { Log } from '../platform/index.ts'

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
  /** The app's one page, with a `/` at its end. */
  pageUrl: string
}): void {
  const { app, shell, session, log, pageUrl } = deps
  const openOutside = (url: string): void => {
    shell.openExternal(url).catch((error: unknown) => log.warn('a link could not be opened', { error }))
  }
  session.setPermissionRequestHandler((_contents, permission, answer) => {
    log.warn('a page asked for a permission and was refused', { permission })
    answer(false)
  })
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  app.on('web-contents-created', (_event, contents: WebContents) => {
    contents.setWindowOpenHandler(({ url }) => {
      if (EXTERNAL.test(url)) openOutside(url)
      else log.warn('a page asked for a window and was refused', { scheme: schemeOf(url) })
      return { action: 'deny' }
    })
    contents.on('will-navigate', (event, url) => {
      if (url === pageUrl || url.startsWith(`${pageUrl}#`)) return
      event.preventDefault()
      log.warn('a navigation was refused', { scheme: schemeOf(url) })
    })
    contents.on('will-frame-navigate', (event) => {
      if (event.isMainFrame) return
      event.preventDefault()
      log.warn('a navigation of an embedded page was refused', { scheme: schemeOf(event.url) })
    })
    contents.on('will-attach-webview', (event) => {
      event.preventDefault()
      log.warn('an embedded web page was refused')
    })
  })
}

const schemeOf = (url: string): string => url.split(':', 1)[0]?.slice(0, 32) ?? ''
