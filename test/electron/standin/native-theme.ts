import type { Page } from 'playwright-core'
import { EventEmitter } from 'node:events'

type Source = 'system' | 'light' | 'dark'
const pages = new Set<Page>()

class NativeTheme extends EventEmitter {
  #source: Source = 'system'
  get themeSource(): Source {
    return this.#source
  }
  set themeSource(source: Source) {
    this.#source = source
    for (const page of pages) void themedAs(page)
    this.emit('updated')
  }
  get shouldUseDarkColors(): boolean {
    return this.#source === 'dark'
  }
}

export const nativeTheme = new NativeTheme()

/** The page then sees the scheme that the app asked for. */
export async function themedAs(page: Page): Promise<void> {
  pages.add(page)
  page.once('close', () => pages.delete(page))
  const { themeSource } = nativeTheme
  await page.emulateMedia({ colorScheme: themeSource === 'system' ? null : themeSource }).catch(() => {})
}
