import type { MenuItemConstructorOptions } from 'electron'

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
      label: '&File',
      submenu: [
        { label: 'New Window', accelerator: 'CommandOrControl+Shift+N', click: newWindow },
        { type: 'separator' },
        isMac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: '&View',
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
