/** What a permission request looks like once it is judged: the row of a decision, and the event that shows it. */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { assertNever } from '../../../shared/errors.ts'
import { PermissionAction } from '../../../shared/vocabulary.ts'
import { formText } from '../../../shared/questions.ts'
import type { AnswerOption, DecisionAction } from '../../../shared/vocabulary.ts'
import { clip, fitData } from '../events/cut.ts'
import type { EventDraft } from '../events/draft.ts'
import type { PolicyVerdict } from '../policy/index.ts'
import type { Settlement } from '../store/decisions.ts'
import type { DecisionRow, PermissionRequest, PermissionRule, QuestionRequest } from '../types.ts'

const ACTION_BYTES = 20 * 1024
const TITLE_BYTES = 1_024
const PATH_BYTES = 512
const PATHS_SHOWN = 8

export interface Card {
  row: DecisionRow
  /** The whole action where the row holds only its beginning and end. */
  whole: { sha256: string; text: string } | null
}

/** High risk is answered once at a time, and so is what no rule could allow again. */
function optionsFor(once: boolean): AnswerOption[] {
  return once
    ? ['allow_once', 'reject_once', 'reject_session']
    : ['allow_once', 'allow_session', 'allow_project', 'reject_once', 'reject_session']
}

export interface CardFacts {
  id: string
  sessionId: string
  runId: string
  createdAt: number
  ttlMs: number
}

/** A question has no risk, and "no" is not to answer it. */
export function makeQuestion(request: QuestionRequest, at: CardFacts): Card {
  const row: DecisionRow = {
    ...openRow(at),
    kind: 'question',
    requestId: request.requestId,
    toolCallId: clip(request.toolCallId, PATH_BYTES),
    tool: '',
    toolKind: 'other',
    title: clip(request.title, TITLE_BYTES),
    action: { kind: 'question', form: request.form },
    complete: true,
    options: ['reject_once'],
    paths: [],
  }
  return { row, whole: null }
}

function openRow(at: CardFacts) {
  return {
    id: at.id,
    sessionId: at.sessionId,
    runId: at.runId,
    wholeBytes: null,
    blob: null,
    risk: null,
    riskReason: '',
    ruleId: null,
    status: 'pending',
    answer: null,
    by: null,
    createdAt: at.createdAt,
    expiresAt: at.createdAt + at.ttlMs,
    settledAt: null,
    told: null,
    appliedAt: null,
  } as const satisfies Partial<DecisionRow>
}

export function makeCard(request: PermissionRequest, verdict: PolicyVerdict, at: CardFacts): Card {
  const high = verdict.risk === 'high' || !request.complete
  const { action, whole } = fitAction(request.action)
  const row: DecisionRow = {
    ...openRow(at),
    kind: 'approval',
    requestId: request.requestId,
    toolCallId: clip(request.toolCallId, PATH_BYTES),
    tool: clip(request.tool, PATH_BYTES),
    toolKind: request.kind,
    title: clip(request.title, TITLE_BYTES),
    action,
    complete: request.complete,
    wholeBytes: whole === null ? null : Buffer.byteLength(whole.text),
    blob: whole?.sha256 ?? null,
    risk: request.complete ? verdict.risk : 'high',
    riskReason: clip(verdict.reason, TITLE_BYTES),
    ruleId: verdict.ruleId ?? null,
    options: optionsFor(high || verdict.once === true),
    paths: request.locations.slice(0, PATHS_SHOWN).map((path) => clip(path, PATH_BYTES)),
  }
  return { row, whole }
}

function fitAction(action: PermissionAction): { action: PermissionAction; whole: Card['whole'] } {
  const text = actionText(action)
  const { cut, ...fitted } = fitData({ ...action }, ACTION_BYTES).data
  if (cut === undefined) return { action, whole: null }
  const parsed = PermissionAction.safeParse(fitted)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const shown = parsed.success ? parsed.data : { kind: 'other' as const, text: clip(text, ACTION_BYTES / 2) }
  return { action: shown, whole: { sha256, text } }
}

/** An action as a person reads it from beginning to end. */
export function actionText(action: DecisionAction): string {
  switch (action.kind) {
    case 'command':
      return action.command
    case 'edit':
      return action.changes
        .map(({ path, oldText, newText }) => `${path}\n--- before\n${oldText ?? ''}\n+++ after\n${newText ?? ''}\n`)
        .join('\n')
    case 'mcp':
      return action.input
    case 'other':
      return action.text
    case 'question':
      return formText(action.form)
    default:
      return assertNever(action)
  }
}

export function requestedEvent(row: DecisionRow): EventDraft {
  return {
    runId: row.runId,
    type: 'decision_requested',
    data: {
      decisionId: row.id,
      kind: row.kind,
      toolCallId: row.toolCallId,
      tool: row.tool,
      toolKind: row.toolKind,
      title: row.title,
      action: row.action,
      complete: row.complete,
      ...(row.wholeBytes === null ? {} : { wholeBytes: row.wholeBytes }),
      risk: row.risk,
      riskReason: row.riskReason,
      ...(row.ruleId === null ? {} : { ruleId: row.ruleId }),
      options: [...row.options],
      paths: [...row.paths],
      expiresAt: row.expiresAt,
    },
    dedupeKey: `ask:${row.id}`,
  }
}

export function settledEvent(row: DecisionRow, { status, answer, by }: Settlement): EventDraft {
  return {
    runId: row.runId,
    type: 'decision_resolved',
    data: { decisionId: row.id, status, answer, by },
    dedupeKey: `settled:${row.id}`,
  }
}

/** What an "always" answer is to mean from now on: this very command (allowed where it was asked for), or this tool. */
export function ruleFor(
  row: DecisionRow,
  option: AnswerOption,
  at: { id: string; projectDir: string; createdAt: number },
): PermissionRule | null {
  if (option === 'allow_once' || option === 'reject_once') return null
  const command = row.action.kind === 'command' ? row.action : null
  // A command of which the row holds only parts cannot be recognised again.
  if (command !== null && row.blob !== null) return null
  const effect = option === 'reject_session' ? 'reject' : 'allow'
  return {
    id: at.id,
    sessionId: option === 'allow_project' ? null : row.sessionId,
    projectDir: option === 'allow_project' ? at.projectDir : null,
    matchKind: command === null ? 'tool' : 'command_exact',
    pattern: command?.command ?? row.tool,
    folder: command === null || effect === 'reject' ? null : resolve(at.projectDir, command.cwd),
    effect,
    decisionId: row.id,
    createdAt: at.createdAt,
  }
}
