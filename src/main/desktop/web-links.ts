import type { Host } from '../host.ts'
import { startWebHost } from '../web/index.ts'
import type { WebHost } from '../web/index.ts'

/** The browser host inside the app: opened when somebody first asks for a link to it. */
export function createWebLinks(deps: { host: Host; rendererDir: string }): {
  newUrl(): Promise<string>
  stop(): Promise<void>
} {
  const { host, rendererDir } = deps
  let opening: Promise<WebHost> | null = null

  const start = async (): Promise<WebHost> => {
    const { clock, ids, log, settings } = host.platform
    const saved = settings.get('webPort')
    const web = await startWebHost(
      {
        clock,
        ids,
        log,
        installation: host.installation.id,
        cookieKey: host.installation.cookieKey,
        rendererDir,
        attach: (connection) => void host.attach(connection, 'browser'),
      },
      { port: saved, fixed: false },
    )
    if (saved === null) await settings.set('webPort', web.port)
    return web
  }

  return {
    async newUrl() {
      // A start that failed may be tried again.
      opening ??= start().catch((error: unknown) => {
        opening = null
        throw error
      })
      return (await opening).newUrl()
    },
    async stop() {
      await (await opening)?.stop()
    },
  }
}
