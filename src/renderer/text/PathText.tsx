import { Revealed } from './Revealed.tsx'
import { relativeTo, shortenMiddle } from './path.ts'
import { revealText } from '../../shared/reveal.ts'

/** A path, shortened in its middle; the whole is its title. `within`: shown relative to this folder. */
export function PathText({ path, within, max }: { path: string; within?: string; max?: number }) {
  return (
    <code title={revealText(path)}>
      <Revealed text={shortenMiddle(within === undefined ? path : relativeTo(path, within), max)} />
    </code>
  )
}
