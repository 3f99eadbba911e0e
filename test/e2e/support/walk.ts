import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'

/** Patience for a loaded machine: the walk waits for what a person would see, never for a time. */
export const PATIENCE_MS = 30_000

/** The first run, to a session in `folder` on the rehearsal. */
export async function walkFirstRun(page: Page, folder: string): Promise<void> {
  await page.getByRole('heading', { name: 'Welcome to Wheelhouse' }).waitFor({ timeout: PATIENCE_MS })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'A model for it' }).waitFor({ timeout: PATIENCE_MS })
  // On a machine with nothing configured the rehearsal is selected, and marked as one.
  await page.getByRole('radio', { name: /Rehearsal/ }).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('textbox', { name: 'Project folder' }).fill(folder)
  await page.getByRole('button', { name: /Start the first session|Create this folder and start/ }).click()
  await prompt(page).waitFor({ timeout: PATIENCE_MS })
}

export const prompt = (page: Page): Locator => page.getByRole('textbox', { name: 'Prompt' })

export async function send(page: Page, text: string | null): Promise<void> {
  if (text !== null) await prompt(page).fill(text)
  await page.getByRole('button', { name: 'Send', exact: true }).click()
}

/** The card that waits for an answer; its title holds `title`. */
export const card = (page: Page, title: string | RegExp): Locator =>
  page.getByRole('article', { name: title }).and(page.locator('[data-decision-status="pending"]'))

export async function allow(page: Page, title: string | RegExp): Promise<void> {
  const waiting = card(page, title)
  await waiting.waitFor({ timeout: PATIENCE_MS })
  await waiting.getByRole('button', { name: /^Allow once/ }).click()
}

export async function denyWithReason(page: Page, title: string | RegExp, reason: string): Promise<void> {
  await card(page, title).waitFor({ timeout: PATIENCE_MS })
  await card(page, title)
    .getByRole('button', { name: /^Deny with a reason/ })
    .click()
  const waiting = page.getByRole('article', { name: title })
  await waiting.getByRole('textbox', { name: 'Reason' }).fill(reason)
  await waiting.getByRole('button', { name: /^Deny and send the reason/ }).click()
}

/** The session's own state in its header. */
export const state = (page: Page, word: string): Locator => page.getByRole('main').getByText(word, { exact: true })

export async function untilState(page: Page, word: string): Promise<void> {
  await state(page, word).first().waitFor({ timeout: PATIENCE_MS })
}

/** Every file below a folder by name, with its bytes' digest: equal before and after means byte-equal. */
export function folderBytes(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    if (statSync(path).isFile()) found[name] = createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  return found
}
