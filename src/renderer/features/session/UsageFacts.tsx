import type { Usage } from '../../../shared/vocabulary.ts'
import { strings } from '../../strings/index.ts'
import { amount } from '../../text/index.ts'
import styles from './Turn.module.css'

/** What the agent said that the turn used. What it did not say is not shown. */
export function UsageFacts({ usage }: { usage: Usage }) {
  const { usage: words } = strings.session
  const tokens = (count: number | null): string | null => (count === null ? null : `${amount(count)} ${words.tokens}`)
  const facts: readonly (readonly [string, string | null])[] = [
    [words.input, tokens(usage.inputTokens)],
    [words.cached, usage.cachedInputTokens === 0 ? null : tokens(usage.cachedInputTokens)],
    [words.output, tokens(usage.outputTokens)],
    [words.reasoning, usage.reasoningTokens === 0 ? null : tokens(usage.reasoningTokens)],
    [words.context, shareOf(usage.contextUsed, usage.contextSize)],
    [words.cost, usage.costUsd === null ? null : `$${usage.costUsd.toFixed(usage.costUsd < 1 ? 4 : 2)}`],
  ]
  return (
    <dl className={styles.usage} aria-label={words.label}>
      {facts.map(
        ([word, value]) =>
          value !== null && (
            <div key={word}>
              <dt>{word}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

function shareOf(used: number | null, size: number | null): string | null {
  return used === null || size === null || size === 0 ? null : `${Math.round((used / size) * 100)} %`
}
