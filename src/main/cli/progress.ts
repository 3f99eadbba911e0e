import { readEvent } from '../../shared/events.ts'
import type { ErrorInfo, SessionEvent } from '../../shared/events.ts'
import type { RunState } from '../../shared/vocabulary.ts'
import { printJson, say, tell } from './print.ts'

export interface Progress {
  event(event: SessionEvent): void
  end(state: RunState): void
}

/**
 * The answer on standard output, what happens on standard error; with `json` the events themselves on standard output, and
 * on standard error nothing but why a run failed.
 */
export function createProgress(options: { json: boolean }): Progress {
  const told = (line: string): void => tell(`${line.replaceAll('\n', '\n  ')}\n`)
  const tellError = (error: ErrorInfo | null): void => {
    if (error === null) return
    told(`wheelhouse: ${error.message}${error.detail === undefined ? '' : ` (${error.detail})`} [${error.code}]`)
  }
  if (options.json) {
    return {
      event(event) {
        printJson(event, { oneLine: true })
        const typed = readEvent(event)
        if (typed?.type === 'run_finished' || typed?.type === 'run_recovered') tellError(typed.data.error)
      },
      end: () => {},
    }
  }
  let atLineStart = true
  const answer = (text: string): void => {
    say(text)
    atLineStart = text.endsWith('\n')
  }
  const breakLine = (): void => {
    if (!atLineStart) answer('\n')
  }

  return {
    event(event) {
      const typed = readEvent(event)
      switch (typed?.type) {
        case 'output_text':
          return answer(typed.data.text)
        case 'tool_finished':
          breakLine()
          return told(`[${typed.data.status}] ${typed.data.title}`)
        case 'decision_requested':
          breakLine()
          return told(`[asks] ${typed.data.title}${typed.data.risk === null ? '' : ` (${typed.data.risk} risk)`}`)
        case 'decision_resolved': {
          const { answer, by } = typed.data
          return told(`[${answer !== null && 'option' in answer ? answer.option : typed.data.status}] by ${by.via}`)
        }
        case 'notice':
        case 'run_retrying':
          breakLine()
          return told(`[note] ${typed.data.message}`)
        case 'run_finished':
        case 'run_recovered': {
          breakLine()
          return tellError(typed.data.error)
        }
        default:
          return undefined
      }
    },
    end(state) {
      breakLine()
      if (state !== 'completed') told(`[${state}]`)
    },
  }
}
