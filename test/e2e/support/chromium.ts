import type { LaunchOptions } from 'playwright-core'

/** Chromium of the machine, quiet and without its own network. */
export function chromiumOptions(args: readonly string[] = []): LaunchOptions {
  return {
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  }
}
