import { fairShare } from '../../../shared/fair-share.ts'
import { strings } from '../../strings/index.ts'
import type { SelectItem } from '../../ui/index.ts'

/** More are no list in which a person finds something. */
const MOST_MODELS = 500
const MORE: SelectItem<string> = { value: 'more', label: strings.newSession.moreModels, disabled: true }

/** As many as can be looked through, each Provider's part of them and the chosen one; the last one says that there are more. */
export function mostModels<T extends SelectItem<string>>(
  items: readonly T[],
  chosen: string,
  providerOf: (item: T) => string | null,
): readonly SelectItem<string>[] {
  const shown = fairShare(items, MOST_MODELS, providerOf, ({ value }) => value === chosen)
  return shown === items ? items : [...shown, MORE]
}
