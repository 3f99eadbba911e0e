import type { LaunchOptions } from 'playwright-core'
import { chromiumPath } from '../../../tools/programs.ts'

/** Chromium of the machine, quiet and without its own network. */
export function chromiumOptions(args: readonly string[] = []): LaunchOptions {
  return {
    executablePath: chromiumPath(),
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
