import type { MenuItemConstructorOptions } from 'electron'
import { desktop } from '../../shared/strings/desktop.ts'

/** What the system expects of an app's menu, and no more. The tools for developers are not in a build for people. */
export function appMenu(options: {
  platform: NodeJS.Platform
  development: boolean
  newWindow(): void
}): MenuItemConstructorOptions[] {
  const { platform, development, newWindow } = options
  const isMac = platform === 'darwin'
  const developing: MenuItemConstructorOptions[] = development
    ? [{ type: 'separator' }, { role: 'reload' }, { role: 'toggleDevTools' }]
    : []
  return [
    ...(isMac ? [{ role: 'appMenu' } satisfies MenuItemConstructorOptions] : []),
    {
      label: desktop.menu.file,
      submenu: [
        { label: desktop.menu.newWindow, accelerator: 'CommandOrControl+Shift+N', click: newWindow },
        { type: 'separator' },
        isMac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: desktop.menu.view,
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        ...developing,
      ],
    },
    { role: 'windowMenu' },
  ]
}
