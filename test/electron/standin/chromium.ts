import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumOptions } from '../../e2e/support/chromium.ts'

const own = new Set<Page>()
let launched: Promise<{ browser: Browser; context: BrowserContext }> | null = null
let opening: Promise<unknown> = Promise.resolve()

/** One Chromium for all windows, started with the first. It goes when this process goes, however that ends. */
function getChromium(): Promise<{ browser: Browser; context: BrowserContext }> {
  launched ??= launch()
  return launched
}

async function launch(): Promise<{ browser: Browser; context: BrowserContext }> {
  const port = process.env['STANDIN_CDP_PORT']
  const browser = await chromium.launch({
    ...chromiumOptions(port === undefined ? [] : [`--remote-debugging-port=${port}`]),
    // The app's main owns the signals.
    handleSIGTERM: false,
    handleSIGINT: false,
    handleSIGHUP: false,
  })
  const context = await browser.newContext()
  context.on('page', (page) => void closeStranger(page))
  return { browser, context }
}

/** A page that no window asked for is a popup: main was told of it, and it goes. */
async function closeStranger(page: Page): Promise<void> {
  await opening
  if (!own.has(page)) await page.close().catch(() => {})
}

export async function newPage(): Promise<{ context: BrowserContext; page: Page }> {
  const { context } = await getChromium()
  const made = context.newPage().then((page) => {
    own.add(page)
    return page
  })
  opening = Promise.allSettled([opening, made])
  return { context, page: await made }
}

export async function closeChromium(): Promise<void> {
  if (launched === null) return
  const { browser } = await launched
  await browser.close()
}
