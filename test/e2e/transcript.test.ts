import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionView } from '../../src/shared/bridge/index.ts'
import type { SessionEvent } from '../../src/shared/events.ts'
import type { RunView, ToolItem } from '../../src/shared/projection/index.ts'
import { numbered, SESSION_ID } from '../renderer/support/decisions.ts'
import { aRun, aSession, aSnapshot, RUN_ID, running } from '../renderer/support/sessions.ts'
import { chromiumOptions } from './support/chromium.ts'
import { startScriptedHost } from './support/scripted-host.ts'
import type { Answers, ScriptedHost } from './support/scripted-host.ts'
import { PATIENCE_MS, prompt } from './support/walk.ts'

/** A flood of ten seconds, drawn on a machine that has other work. */
const LIMIT_MS = 240_000
const DRAWN_WITHIN_MS = 150_000

const TURNS = 500
const STEPS_A_TURN = 100
const EVENTS_A_STEP = 2
/** The host cuts its answers at a MiB. */
const TURNS_AN_ANSWER = 25
/** A few screens of steps and the places of the turns; all steps at once would be fifty times as many. */
const MAX_NODES = 6_000
/** Ten times what an idle machine may take: what is caught is work that grows with the session. */
const MAX_SCRIPT_S = 3

const DELTAS_A_SECOND = 5_000
const FLOOD_SECONDS = 10
const RENDERS_A_SECOND = 30
/** Five times what an idle machine may take. */
const MAX_INPUT_MS = 500

let browser: Browser
let host: ScriptedHost
const errors: string[] = []

beforeEach(async () => {
  errors.length = 0
  browser = await chromium.launch(chromiumOptions())
})

afterEach(async () => {
  await browser.close()
  await host.close()
})

describe('a long transcript', () => {
  test(
    'DT-A11 a hundred thousand events open as a few screens, and the first and the last turn are one key away',
    { timeout: LIMIT_MS },
    async () => {
      expect(TURNS * STEPS_A_TURN * EVENTS_A_STEP).toBe(100_000)
      const session = aSession()
      const turns = Array.from({ length: TURNS }, (_, index) => longTurn(index))
      await startHost(session, {
        'sessions.snapshot': ({ beforeTurn, limit }) => {
          const end = beforeTurn === undefined ? TURNS : turns.findIndex((turn) => turn.runId === beforeTurn)
          const from = Math.max(0, end - Math.min(limit, TURNS_AN_ANSWER))
          return { ...aSnapshot(session, turns.slice(from, end)), hasEarlier: from > 0 }
        },
      })
      const page = await openPage(host.url)
      await host.followed('sessions')
      const before = await scriptSeconds(page)
      await page.evaluate((hash) => {
        location.hash = hash
      }, `#/session/${SESSION_ID}`)
      const last = page.locator(`[data-turn="${turnId(TURNS - 1)}"]`)
      await last.getByText(`Do part ${TURNS - 1}.`).waitFor({ state: 'attached', timeout: PATIENCE_MS })
      await prompt(page).waitFor({ timeout: PATIENCE_MS })
      expect((await scriptSeconds(page)) - before).toBeLessThan(MAX_SCRIPT_S)
      expect(await nodes(page)).toBeLessThan(MAX_NODES)

      await page.locator('[data-transcript]').focus()
      await page.keyboard.press('{')
      const first = page.locator(`[data-turn="${turnId(0)}"]`)
      await first.getByText('Do part 0.').waitFor({ timeout: PATIENCE_MS })
      expect(await page.locator('article[data-turn]').count()).toBe(TURNS)
      await untilInSight(page, turnId(0))
      expect(await nodes(page)).toBeLessThan(MAX_NODES)

      await page.keyboard.press('}')
      await last.getByText(`Do part ${TURNS - 1}.`).waitFor({ timeout: PATIENCE_MS })
      await untilInSight(page, turnId(TURNS - 1))
      expect(await nodes(page)).toBeLessThan(MAX_NODES)
      expect(errors).toEqual([])
    },
  )

  test(
    'DT-A12 five thousand pieces of text a second are drawn at most thirty times a second, whole, while somebody types',
    { timeout: LIMIT_MS },
    async () => {
      const session = running({ headSeq: 1 })
      const turn = aRun({ state: 'running', finishedAt: null })
      await startHost(session, { 'sessions.snapshot': () => aSnapshot(session, [turn]) })
      const page = await openPage(`${host.url}#/session/${SESSION_ID}`)
      await host.followed('session.events')
      await page.locator('article[data-turn]').waitFor({ timeout: PATIENCE_MS })
      const counted = await countRenders(page)

      await prompt(page).focus()
      const flood = sendFlood()
      let typed = ''
      while (!flood.over()) {
        await page.keyboard.type('a')
        typed += 'a'
        await sleep(150)
      }
      const text = await flood.text
      await page.waitForFunction(
        () => document.querySelector('article[data-turn]')?.textContent?.includes('This is the end.') === true,
        undefined,
        { timeout: DRAWN_WITHIN_MS, polling: 500 },
      )
      const { renders, seconds, inputMs } = await counted.evaluate((count) => ({
        renders: count.renders,
        seconds: (performance.now() - count.fromMs) / 1_000,
        inputMs: count.inputMs.toSorted((one, other) => one - other),
      }))
      // Beside the text there is the rare news of the turn itself.
      expect(renders).toBeLessThanOrEqual(RENDERS_A_SECOND * seconds + RENDERS_A_SECOND)
      expect(renders).toBeGreaterThan(1)
      expect(inputMs[Math.floor(inputMs.length / 2)] ?? 0).toBeLessThan(MAX_INPUT_MS)
      expect(await prompt(page).inputValue()).toBe(typed)
      const shown = await page.locator('article[data-turn]').textContent()
      const squeeze = (words: string): string => words.replace(/`{3}(?:ts)?|\s+/g, '')
      expect(squeeze(shown ?? '').includes(squeeze(text))).toBe(true)
      expect(await page.getByRole('button', { name: 'Jump to latest' }).count()).toBe(0)
      expect(errors).toEqual([])
    },
  )
})

const turnId = (index: number): string => numbered(10_000 + index)

function longTurn(index: number): RunView {
  const step = (n: number): ToolItem => ({
    kind: 'tool',
    seq: index * STEPS_A_TURN * EVENTS_A_STEP + n * EVENTS_A_STEP + 1,
    toolCallId: `call-${index}-${n}`,
    tool: n % 2 === 0 ? 'read' : 'execute',
    name: 'bash',
    title: `step ${n}`,
    status: 'completed',
    paths: [],
    content: n % 2 === 0 ? [] : [{ type: 'output', text: 'one\ntwo\nthree', exitCode: 0 }],
    allowedBy: null,
    startedAt: 3_000,
    finishedAt: 3_100,
  })
  return aRun({
    runId: turnId(index),
    prompt: `Do part ${index}.`,
    items: Array.from({ length: STEPS_A_TURN }, (_, n) => step(n)),
  })
}

async function startHost(session: SessionView, answers: Answers): Promise<void> {
  host = await startScriptedHost(
    {
      'sessions.config.get': () => ({
        rev: 1,
        mode: { value: 'agent', options: [] },
        choice: session.choice,
        choices: [{ choice: session.choice, label: session.choiceLabel, ready: true, efforts: [], effect: null }],
        source: 'catalog',
      }),
      'agents.list': () => ({ agents: [] }),
      'drafts.get': () => ({ draft: null }),
      'drafts.set': ({ expectedRev, text, queued }) => ({ rev: expectedRev + 1, text, inputIds: [], queued }),
      ...answers,
    },
    {
      sessions: { kind: 'snapshot', sessions: [session] },
      decisions: { kind: 'snapshot', decisions: [] },
      workers: { workers: [] },
      settings: { values: {} },
      notices: { kind: 'snapshot', notices: [] },
    },
  )
}

async function openPage(url: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 840 } })
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(url)
  return page
}

/** Each commit of the interface to the turn is one call of the observer. */
function countRenders(page: Page) {
  return page.evaluateHandle(() => {
    const count = { renders: 0, fromMs: performance.now(), inputMs: [] as number[] }
    const turn = document.querySelector('article[data-turn]')
    if (turn === null) throw new Error('no turn is shown')
    new MutationObserver(() => (count.renders += 1)).observe(turn, {
      subtree: true,
      childList: true,
      characterData: true,
    })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'keydown') count.inputMs.push(entry.duration)
    }).observe({ type: 'event', buffered: false })
    return count
  })
}

/** Paragraphs, a list that never ends and a fence, each of them long. */
function wordAt(n: number): string {
  const word = `word${n % 97} `
  const third = Math.floor((n * 3) / (DELTAS_A_SECOND * FLOOD_SECONDS))
  if (third === 0) return n % 120 === 119 ? '.\n\n' : word
  if (third === 1) return n % 14 === 13 ? '\n' : word
  return n % 10 === 9 ? '\n' : word
}

function sendFlood(): { over: () => boolean; text: Promise<string> } {
  const count = DELTAS_A_SECOND * FLOOD_SECONDS
  const fenceAt = Math.ceil((count * 2) / 3)
  let sent = 0
  let text = ''
  const eventOf = (piece: string): SessionEvent => {
    text += piece
    const data = { messageId: 'm', text: piece }
    return { sessionId: SESSION_ID, seq: sent + 2, runId: RUN_ID, type: 'output_text', state: null, at: 3_000, data }
  }
  const send = async (): Promise<string> => {
    const from = performance.now()
    while (sent < count) {
      const due = Math.min(count, Math.floor(((performance.now() - from) / 1_000) * DELTAS_A_SECOND))
      const events: SessionEvent[] = []
      for (; sent < due; sent++) events.push(eventOf(sent === fenceAt ? '\n\n```ts\n' : wordAt(sent)))
      host.publish('session.events', events)
      await sleep(10)
    }
    host.publish('session.events', [eventOf('\n```\n\nThis is the end.')])
    return text
  }
  const sending = send()
  return { over: () => sent >= count, text: sending }
}

const nodes = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('main *').length)

async function scriptSeconds(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0
}

/** It has the focus, stands in what can be seen, and stays there. */
async function untilInSight(page: Page, id: string): Promise<void> {
  await page.waitForFunction(
    async (id) => {
      const turn = document.querySelector(`[data-turn="${id}"]`)
      const frame = document.querySelector('[data-transcript]')?.getBoundingClientRect()
      if (turn === null || frame === undefined || document.activeElement !== turn) return false
      const isSeen = (): boolean => {
        const { top, bottom } = turn.getBoundingClientRect()
        return top < frame.bottom && bottom > frame.top
      }
      if (!isSeen()) return false
      await new Promise((resolve) => setTimeout(resolve, 500))
      return isSeen()
    },
    id,
    { timeout: PATIENCE_MS },
  )
}
