import { spawn } from 'node:child_process'
import type { Log } from '../platform/types.ts'

/** What a browser needs of the host's environment. Nothing else of it is the browser's business. */
const NAMES = [
  'BROWSER',
  'DBUS_SESSION_BUS_ADDRESS',
  'DESKTOP_SESSION',
  'DISPLAY',
  'HOME',
  'LANG',
  'PATH',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_CONFIG_HOME',
  'XDG_CURRENT_DESKTOP',
  'XDG_DATA_DIRS',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'XDG_SESSION_TYPE',
]

/**
 * Opens an address in the person's browser, by `xdg-open`; does nothing where there is no display. Others see the arguments
 * of a process: an address with a secret must not come here.
 */
export function createBrowserOpener(deps: {
  env: Readonly<Record<string, string | undefined>>
  log: Log
}): (url: string) => void {
  const { env, log } = deps
  const isSeen = ['DISPLAY', 'WAYLAND_DISPLAY'].some((name) => (env[name] ?? '') !== '')
  const given = Object.fromEntries(NAMES.map((name) => [name, env[name]]))
  return (url) => {
    if (!isSeen) return
    const child = spawn('xdg-open', [url], {
      detached: true,
      stdio: 'ignore',
      env: { ...given, NODE_V8_COVERAGE: undefined },
    })
    child.on('error', (error) => log.warn('no browser could be opened', { error }))
    child.unref()
  }
}
