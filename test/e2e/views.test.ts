import axe from 'axe-core'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Answers, Says, ScriptedHost } from './support/scripted-host.ts'
import { startScriptedHost } from './support/scripted-host.ts'
import { chromiumOptions } from './support/chromium.ts'
import { PATIENCE_MS } from './support/walk.ts'
import { aCatalog, aConnection, aModel, WORK_ID } from '../renderer/support/catalog.ts'
import { aDecision, numbered, SESSION_ID } from '../renderer/support/decisions.ts'
import { aRun, aRunError, aSession, aSnapshot, RUN_ID, running } from '../renderer/support/sessions.ts'
import { defaultSettings } from '../../src/shared/settings.ts'

/** Every view, with something in it, and what says that it is there. */
const VIEWS: readonly (readonly [string, string, string])[] = [
  ['session', `#/session/${SESSION_ID}`, 'Fix the flaky test'],
  ['new session', '#/new', 'New session'],
  ['approvals', '#/approvals', 'Approvals'],
  ['permissions', '#/permissions', 'Permissions'],
  ['schedules', '#/schedules', 'Schedules'],
  ['deliveries', '#/deliveries', 'Deliveries'],
  ['providers', '#/providers', 'Providers'],
  ['gateway', '#/gateway', 'Gateway'],
  ['health', '#/health', 'Health'],
  ['settings', '#/settings', 'Settings'],
]

const now = Date.now()
const session = aSession({ title: 'Fix the flaky test', agentId: 'claude' })
const sessions = [session, running({ id: numbered(2), title: 'Add retries', workDir: '/home/me/site' })]
const file = { kind: 'file', filename: 'notes.md', mediaType: 'text/markdown', bytes: 2_400 } as const
const turns = [
  aRun({
    prompt: 'Fix it',
    inputs: [{ ...file, inputId: numbered(50) }],
    artifacts: [{ ...file, artifactId: numbered(51) }],
    items: [
      { kind: 'text', seq: 2, messageId: 'm', text: 'I look at `date.ts`.', at: now },
      {
        kind: 'tool',
        seq: 3,
        toolCallId: 'c',
        tool: 'execute',
        name: null,
        title: 'npm test',
        status: 'completed',
        paths: [],
        content: [{ type: 'output', text: '3 passed', exitCode: 0 }],
        allowedBy: { reason: 'rule', ruleId: numbered(40) },
        startedAt: now,
        finishedAt: now + 900,
      },
    ],
  }),
  aRun({ runId: numbered(7_002), state: 'failed', error: aRunError() }),
]
const settled = aDecision({
  decisionId: numbered(60),
  status: 'resolved',
  answer: { option: 'reject_once', reason: 'Not today.' },
  by: { via: 'window', connection: null },
  settledAt: now,
})

const answers: Answers = {
  'system.info': () => ({
    version: '0.1.0',
    host: 'browser',
    platform: 'linux',
    dataDir: '/data',
    homeDir: '/home/me',
    suggestedWorkDir: '/home/me/Wheelhouse/first',
    canPickFolder: false,
    firstRun: false,
  }),
  'system.health': () => ({
    checks: [{ id: 'keys', label: 'Keys', status: 'warn', message: 'No keychain was found', hint: 'Install one.' }],
  }),
  'system.logs.tail': () => ({ lines: ['{"level":40,"time":0,"msg":"a warning","code":"x"}'] }),
  'settings.get': () => ({ values: { ...defaultSettings() } }),
  'sessions.snapshot': () => aSnapshot(session, turns),
  'sessions.ownership': () => ({
    owners: [
      {
        sessionId: numbered(2),
        sessionTitle: 'Add retries',
        state: 'local',
        run: { runId: RUN_ID, state: 'running', startedAt: now, source: 'desktop' },
        ownerPid: 4_711,
        lease: { purpose: 'execution', expiresAt: now + 20_000 },
        recovery: null,
        error: null,
      },
    ],
  }),
  'sessions.config.get': () => ({
    rev: 1,
    mode: { value: 'agent', options: [{ value: 'agent', available: true, why: null }] },
    choice: session.choice,
    sandbox: { value: false, available: true, why: null },
    choices: [{ choice: session.choice, label: 'Rehearsal', ready: true, efforts: [], effect: null }],
    source: 'catalog',
  }),
  'agents.list': () => ({
    agents: [
      {
        id: 'builtin',
        label: 'Built-in agent',
        available: true,
        version: '1',
        path: null,
        checks: [],
        unchecked: false,
      },
      { id: 'codex', label: 'Codex', available: false, version: null, path: null, checks: [], unchecked: true },
    ],
  }),
  'projects.recent': () => ({ projects: [] }),
  'drafts.get': () => ({ draft: { rev: 1, text: 'And then?', inputIds: [numbered(50)], queued: false } }),
  'inputs.get': () => ({ ...file, inputId: numbered(50), status: 'prepared', createdAt: now }),
  'providers.list': () => aCatalog(),
  'decisions.history': () => ({ decisions: [settled], next: null }),
  'deliveries.targets.list': () => ({
    targets: [
      {
        id: numbered(61),
        kind: 'webhook',
        name: 'Team chat',
        enabled: true,
        runs: 'all',
        folder: null,
        address: 'http://chat.example.com',
        hasToken: true,
        plaintext: true,
        idempotencyHeader: null,
        unusable: null,
      },
    ],
    notificationsUnavailable: null,
  }),
  'deliveries.list': () => ({
    deliveries: [
      {
        id: numbered(71),
        runId: RUN_ID,
        sessionId: SESSION_ID,
        sessionTitle: 'Fix the flaky test',
        transport: 'webhook',
        targetId: numbered(61),
        targetName: 'Team chat',
        status: 'failed',
        pending: 0,
        source: 'desktop',
        createdAt: now,
        updatedAt: now,
        operations: [
          {
            id: 'op-1',
            kind: 'send_text',
            sequence: 1,
            status: 'failed',
            artifactId: null,
            attempts: 4,
            nextAttemptAt: null,
            failureCode: 'webhook_http_404',
            updatedAt: now,
          },
        ],
      },
    ],
    next: null,
  }),
  'trust.inspect': ({ folder }) => ({
    folder,
    answer: null,
    findings: [
      {
        path: '.claude/settings.json',
        agent: 'claude',
        kind: 'settings',
        effects: [
          { what: 'hooks', names: ['PreToolUse: ./scripts/check.sh', 'Stop: npm run lint'] },
          { what: 'permissions', names: ['mode acceptEdits'] },
        ],
        unread: null,
      },
      { path: 'CLAUDE.md', agent: 'claude', kind: 'instructions', effects: [], unread: null },
    ],
    more: false,
  }),
  'presence.set': () => ({ ok: true }),
}

const says: Says = {
  sessions: { kind: 'snapshot', sessions },
  decisions: { kind: 'snapshot', decisions: [aDecision({ sessionId: numbered(2), sessionTitle: 'Add retries' })] },
  providers: aCatalog({
    connections: [aConnection({ breaker: { state: 'open', untilMs: now + 3_600_000 } })],
    defaults: {
      codex: {
        connectionId: WORK_ID,
        modelId: 'gpt-5.5',
        failover: {
          chain: [{ connectionId: WORK_ID, modelId: 'gpt-5.5-mini' }],
          on429: true,
          allowHistoryStrip: false,
        },
      },
    },
    models: { [WORK_ID]: [aModel('gpt-5.5'), aModel('gpt-5.5-mini', { enabled: false })] },
  }),
  workers: {
    workers: [
      {
        workerId: 'w1',
        sessionId: SESSION_ID,
        sessionTitle: 'Fix the flaky test',
        product: 'Codex',
        pid: 42,
        state: 'held',
        sinceMs: now,
        heldReason: 'group_outlived_leader',
      },
    ],
  },
  trust: {
    folders: [
      { folder: '/home/me/api', trusted: true, rev: 1, answeredAt: now },
      { folder: '/home/me/other', trusted: false, rev: 1, answeredAt: now },
    ],
  },
  rules: {
    rules: [
      {
        id: numbered(40),
        scope: 'project',
        sessionId: null,
        sessionTitle: null,
        projectDir: '/home/me/api',
        matchKind: 'command_exact',
        pattern: 'npm test',
        folder: '/home/me/api',
        effect: 'allow',
        decisionId: null,
        createdAt: now,
      },
    ],
  },
  gateway: {
    listening: true,
    address: '127.0.0.1:38777',
    code: null,
    upstreams: { codex: WORK_ID, claude: null },
    takeovers: [
      {
        client: 'codex',
        state: 'drifted',
        detail: 'block_user_changed',
        warnings: ['threads_hide'],
        configPath: '/home/me/.codex/config.toml',
        kind: 'provider_table',
        keepLogin: false,
        enabled: true,
        restoreAvailable: true,
      },
      {
        client: 'claude',
        state: 'inactive',
        detail: null,
        warnings: [],
        configPath: '/home/me/.claude/settings.json',
        kind: null,
        keepLogin: false,
        enabled: false,
        restoreAvailable: false,
      },
    ],
  },
  requests: {
    kind: 'snapshot',
    requests: [
      {
        id: 1,
        at: now,
        sessionId: null,
        client: 'codex',
        connectionId: WORK_ID,
        endpoint: 'responses',
        modelAsked: 'gpt-5.5',
        modelSent: 'gpt-5.5',
        flags: [],
        status: 200,
        code: null,
        end: 'completed',
        bytesIn: 900,
        bytesOut: 4_000,
        firstByteMs: 240,
        totalMs: 900,
        tokens: { input: 1_200, cacheRead: 0, cacheWrite: null, output: 34, reasoning: null },
        requestId: 'req_1',
      },
    ],
  },
  schedules: {
    schedules: [
      {
        id: numbered(81),
        name: 'Morning tests',
        cron: '0 8 * * 1-5',
        timeZone: 'Europe/Berlin',
        agentId: 'builtin',
        workDir: '/home/me/api',
        mode: 'agent',
        choice: null,
        choiceLabel: null,
        prompt: 'Run the tests.',
        deliverTo: [],
        catchUp: false,
        enabled: true,
        rev: 1,
        sessionId: SESSION_ID,
        nextAt: now + 3_600_000,
        last: {
          at: now - 120_000,
          dueAt: now - 120_000,
          outcome: 'failed',
          runId: null,
          runState: null,
          code: 'work_dir_missing',
          message: 'The folder is gone.',
        },
        createdAt: now,
        updatedAt: now,
      },
    ],
    executing: true,
  },
  settings: { values: { ...defaultSettings() } },
  notices: { kind: 'snapshot', notices: [] },
}

/** Every view in a real browser, on a machine that has other work. */
const LIMIT_MS = 300_000

describe('every view', { timeout: LIMIT_MS }, () => {
  let host: ScriptedHost
  let browser: Browser

  beforeAll(async () => {
    host = await startScriptedHost(answers, says)
    browser = await chromium.launch(chromiumOptions())
  })
  afterAll(async () => {
    await browser.close()
    await host.close()
  })

  async function visit(
    options: BrowserContextOptions,
    look: (page: Page, view: string) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    for (const [view, hash, heading] of VIEWS) {
      await page.goto(new URL(hash, host.url).href)
      await page.getByRole('main').getByRole('heading', { level: 1, name: heading }).waitFor({ timeout: PATIENCE_MS })
      await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null)
      await look(page, view)
    }
    await context.close()
    expect(errors).toEqual([])
  }

  // At 200 % a window of 1280 pixels has room for 640.
  test.each([
    ['light', { colorScheme: 'light', viewport: { width: 1_280, height: 840 } }],
    ['dark at 200 %', { colorScheme: 'dark', viewport: { width: 640, height: 420 }, reducedMotion: 'reduce' }],
  ] as const)('DT-A21 axe finds nothing serious in %s', async (_name, options) => {
    const found: string[] = []
    await visit(options, async (page, view) => {
      await page.evaluate(axe.source)
      const serious = await page.evaluate(async () => {
        const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document)
        return violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`)
      })
      found.push(...serious.map((finding) => `${view}: ${finding}`))
    })
    expect(found).toEqual([])
  })

  test('DT-A20 Tab reaches every control of every view, and the focus is always somewhere that shows it', async () => {
    const missed: string[] = []
    await visit({ viewport: { width: 1_280, height: 840 } }, async (page, view) => {
      const controls = await page.evaluate(markControls)
      for (let presses = 0; presses < controls * 2 + 10; presses++) {
        await page.keyboard.press('Tab')
        if (await page.evaluate(noteFocus)) break
      }
      missed.push(...(await page.evaluate(notReached)).map((control) => `${view}: ${control}`))
    })
    expect(missed).toEqual([])
  })
})

/** Marks what a person could act on; answers how much that is. Of a group of radio buttons the chosen one is enough. */
function markControls(): number {
  const all = document.querySelectorAll<HTMLElement>('a[href], button, input, textarea, [tabindex="0"]')
  let count = 0
  for (const control of all) {
    const radio = control instanceof HTMLInputElement && control.type === 'radio' && !control.checked
    const off = control.matches(':disabled, [tabindex="-1"], [aria-hidden="true"], [aria-hidden="true"] *')
    if (radio || off || control.getClientRects().length === 0) continue
    control.dataset['reached'] = 'no'
    count++
  }
  return count
}

/** Notes what has the focus; true once the last control has been reached. */
function noteFocus(): boolean {
  const focused = document.activeElement
  if (focused instanceof HTMLElement && focused !== document.body) {
    const ring = getComputedStyle(focused)
    const shows = ring.outlineStyle !== 'none' || focused.closest('main') === focused
    focused.dataset['reached'] = shows ? 'yes' : 'unseen'
  }
  return document.querySelector('[data-reached="no"]') === null
}

function notReached(): string[] {
  return [...document.querySelectorAll<HTMLElement>('[data-reached="no"], [data-reached="unseen"]')].map(
    (control) => `${control.dataset['reached']} ${control.outerHTML.slice(0, 160)}`,
  )
}
