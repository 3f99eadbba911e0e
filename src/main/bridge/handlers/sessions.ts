import type { ProcedureOutput } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import { fairShare } from '../../../shared/fair-share.ts'
import type { AgentId, RuntimeChoice, Source } from '../../../shared/vocabulary.ts'
import type { sessionProcedures } from '../../../shared/bridge/sessions.ts'
import type { RuntimeOption, SessionRuntimes } from '../../executor/index.ts'
import type { Settings } from '../../platform/index.ts'
import type { Runtime, SessionRow } from '../../runtime/index.ts'
import { compact } from '../compact.ts'
import { exportPage } from '../export/index.ts'
import type { ConnectionInfo, HandlersOf } from '../types.ts'
import { draftView } from '../views.ts'
import type { Views } from '../views.ts'
import { ownerships } from './ownership.ts'

/** As many as a snapshot holds: its bytes bound them first. */
const EXPORTED_TURNS = 50

const SOURCE: Readonly<Record<ConnectionInfo['kind'], Source>> = {
  window: 'desktop',
  browser: 'browser',
  notification: 'desktop',
  tray: 'desktop',
  cli: 'cli',
  acp: 'acp',
}
export const sourceOf = (connection: ConnectionInfo): Source => SOURCE[connection.kind]

/** Above this a look at the settings would cost more than it tells; the change itself still says what it does. */
const MAX_PREVIEWED = 200
/** More would not pass in one answer where their names are long. */
const MAX_OFFERED = 1_000

export function sessionHandlers(deps: {
  runtime: Runtime
  runtimes: SessionRuntimes
  settings: Settings
  views: Views
  /** Null: that agent can be kept to the session's folders here; else why not. */
  whyNotConfined(agentId: AgentId, choice: Pick<RuntimeChoice, 'connectionId'>): Promise<string | null>
}): HandlersOf<typeof sessionProcedures> {
  const { runtime, runtimes, settings, views, whyNotConfined } = deps

  async function demandSandbox(agentId: AgentId, choice: RuntimeChoice): Promise<void> {
    const why = await whyNotConfined(agentId, choice)
    if (why !== null) throw new AppError('config_option_unavailable', why)
  }

  async function sandboxOf({ agentId, sandbox, choice }: SessionRow) {
    const why = await whyNotConfined(agentId, choice)
    return { value: sandbox, available: why === null, why }
  }

  /** What the session can run on; what it runs on stands among them even where the catalog does not know it. */
  function choicesOf({ agentId, choice }: Pick<SessionRow, 'agentId' | 'choice'>): readonly RuntimeOption[] {
    const { connectionId, modelId } = choice
    const isPresent = (option: RuntimeOption): boolean =>
      option.choice.connectionId === connectionId && option.choice.modelId === modelId
    const known = fairShare(runtimes.options(agentId), MAX_OFFERED, (option) => option.choice.connectionId, isPresent)
    if (known.some(isPresent) || connectionId === null) return known
    return [...known, { choice, label: runtimes.labelOf(agentId, choice), ready: false, efforts: [] }]
  }

  function offersOf(row: SessionRow) {
    const offers = choicesOf(row)
    const previewed = offers.length <= MAX_PREVIEWED
    return offers.map((offer) => ({
      ...offer,
      efforts: [...offer.efforts],
      effect: previewed ? runtimes.preview(row, offer.choice) : null,
    }))
  }

  return {
    'sessions.list': async ({ archived, limit, offset }) => {
      const { sessions, total } = runtime.sessions.list({ archived, limit, offset })
      return { sessions: await views.sessions(sessions), total }
    },
    'sessions.ownership': () => ({ owners: ownerships(runtime) }),
    'sessions.get': ({ sessionId }) => views.session(runtime.sessions.get(sessionId)),
    'sessions.create': async (input, { connection }) => {
      const { agentId, workDir, extraDirs, title, mode, choice, sandbox } = input
      const runsOn = choice ?? runtimes.initial(agentId)
      if (sandbox) await demandSandbox(agentId, runsOn)
      const row = await runtime.sessions.create({
        agentId,
        workDir,
        extraDirs,
        sandbox,
        createdVia: sourceOf(connection),
        choice: runsOn,
        mode: mode ?? settings.get('defaultMode'),
        ...compact({ title }),
      })
      return views.session(row)
    },
    'sessions.rename': async ({ sessionId, title }) => views.session(await runtime.sessions.rename(sessionId, title)),
    'sessions.archive': async ({ sessionId, archived }) =>
      views.session(await runtime.sessions.archive(sessionId, archived)),
    'sessions.delete': async ({ sessionId }, { signal }) => {
      await runtime.sessions.delete(sessionId, signal)
      return { deleted: true }
    },
    'sessions.setRoots': async (input) => views.session(await runtime.sessions.setRoots(input)),
    'sessions.snapshot': async ({ sessionId, beforeTurn, limit }) => {
      const snapshot = await runtime.sessions.snapshot({ sessionId, limit, ...compact({ beforeTurn }) })
      return {
        session: views.session(snapshot.session),
        turns: snapshot.turns,
        hasEarlier: snapshot.hasEarlier,
        headSeq: snapshot.headSeq,
        floorSeq: snapshot.floorSeq,
        pending: views.decisions(snapshot.pending),
        draft: snapshot.draft === null ? null : draftView(snapshot.draft),
      }
    },
    'sessions.fork': async ({ sessionId, atRun, requestId }, { connection }) => {
      const createdVia = sourceOf(connection)
      const request = { sourceId: sessionId, requestId, createdVia, ...compact({ atRun }) }
      return views.session(runtime.sessions.get((await runtime.sessions.fork(request)).sessionId))
    },
    'sessions.export': async ({ sessionId, format, before }) => {
      const page = await runtime.sessions.snapshot({
        sessionId,
        limit: EXPORTED_TURNS,
        ...compact({ beforeTurn: before }),
      })
      return exportPage({ ...page, session: views.session(page.session) }, format)
    },
    'sessions.search': async ({ text, sessionId, before, limit }) => {
      const page = runtime.sessions.search({ text, limit, ...compact({ sessionId, before }) })
      const hits = page.hits.map(({ snippet, ...hit }) => ({
        ...hit,
        snippet: { text: snippet.text, marks: snippet.marks.map(([from, to]): [number, number] => [from, to]) },
      }))
      return { sessions: await views.sessions(page.sessions), hits, next: page.next }
    },
    'sessions.config.get': async ({ sessionId }) => {
      const row = runtime.sessions.get(sessionId)
      const osEnabled = settings.get('osModeEnabled')
      return {
        rev: row.rev,
        mode: {
          value: row.mode ?? 'agent',
          options: (['plan', 'agent', 'yolo', 'os'] as const).map((value) => ({
            value,
            available: value !== 'os' || osEnabled,
            why: value === 'os' && !osEnabled ? 'Switched off in Settings.' : null,
          })),
        },
        sandbox: await sandboxOf(row),
        choice: row.choice,
        choices: offersOf(row),
        source: 'catalog',
      }
    },
    'sessions.config.set': async (input, { actor, signal }) => {
      const { sessionId, expectedRev, mode, sandbox, connectionId, allowHistoryStrip } = input
      const choice =
        input.choice ??
        (connectionId === undefined ? undefined : runtimes.cascade(runtime.sessions.get(sessionId), connectionId))
      if (sandbox === true) {
        const row = runtime.sessions.get(sessionId)
        await demandSandbox(row.agentId, choice ?? row.choice)
      }
      const change = compact({ mode, sandbox })
      const changes = Object.keys(change).length > 0
      let rev = expectedRev
      let effect: ProcedureOutput<'sessions.config.set'>['effect'] = { kind: 'next_turn', historyStripped: false }
      if (choice !== undefined) {
        const done = await runtimes.set({ sessionId, choice, allowHistoryStrip, expectedRev: rev, by: actor }, signal)
        if (done.effect.kind === 'refused') return done
        rev = done.rev
        effect = done.effect
      }
      if (changes) rev = (await runtime.config.set({ sessionId, expectedRev: rev, ...change })).rev
      return { rev, effect }
    },
    'drafts.get': ({ sessionId }) => {
      const draft = runtime.drafts.get(sessionId)
      return { draft: draft === null ? null : draftView(draft) }
    },
    'drafts.set': async ({ sessionId, expectedRev, text, inputIds, queued }) =>
      draftView(await runtime.drafts.set({ sessionId, expectedRev, text, inputIds, queued })),
  }
}
