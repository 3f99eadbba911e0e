import type { UsageRow } from '../../../shared/bridge/index.ts'
import { useTopic } from '../../stores/app-stores.tsx'
import { strings } from '../../strings/index.ts'
import styles from './usage.module.css'

export type UsageGroup = 'day' | 'session' | 'connection' | 'model'
type Column = 'input' | 'cacheRead' | 'output'

const COLUMNS = ['input', 'cacheRead', 'output'] as const

/** One row a group and their sum. The bars say the same as the figures, so they are for eyes alone. */
export function UsageTable({ by, rows, caption }: { by: UsageGroup; rows: readonly UsageRow[]; caption: string }) {
  const nameOf = useNames(by)
  const { usage } = strings
  const most = Math.max(1, ...rows.map(tokensOf))
  return (
    <div className={styles.scroll}>
      <table className={styles.table}>
        <caption className={styles.caption}>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{usage.groups[by]}</th>
            <th scope="col">{usage.requests}</th>
            <th scope="col">{usage.failed}</th>
            <th scope="col">{usage.input}</th>
            <th scope="col">{usage.cached}</th>
            <th scope="col">{usage.output}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                <span className={styles.name}>{nameOf(row.key)}</span>
                <span
                  className={styles.bar}
                  aria-hidden="true"
                  style={{ inlineSize: `${(tokensOf(row) / most) * 100}%` }}
                />
              </th>
              <Figures row={row} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{usage.total}</th>
            <Figures row={sumOf(rows)} />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

function Figures({ row }: { row: Pick<UsageRow, 'requests' | 'failed' | Column> }) {
  return (
    <>
      <td>{row.requests.toLocaleString('en')}</td>
      <td>{row.failed.toLocaleString('en')}</td>
      {COLUMNS.map((column) => (
        <td key={column}>{row[column]?.toLocaleString('en') ?? strings.usage.unknown}</td>
      ))}
    </>
  )
}

function tokensOf({ input, cacheRead, output }: UsageRow): number {
  return (input ?? 0) + (cacheRead ?? 0) + (output ?? 0)
}

/** What nobody said stays unsaid, unless another row says something. */
function sumOf(rows: readonly UsageRow[]): Pick<UsageRow, 'requests' | 'failed' | Column> {
  const add = (column: Column): number | null => {
    const said = rows.flatMap((row) => row[column] ?? [])
    return said.length === 0 ? null : said.reduce((sum, each) => sum + each, 0)
  }
  return {
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
    failed: rows.reduce((sum, { failed }) => sum + failed, 0),
    input: add('input'),
    cacheRead: add('cacheRead'),
    output: add('output'),
  }
}

function useNames(by: UsageGroup): (key: string) => string {
  const sessions = useTopic('sessions', (state) => state.value)
  const catalog = useTopic('providers', (state) => state.value)
  const { usage } = strings
  return (key) => {
    if (by === 'session' && key === '') return usage.byGateway
    if (by === 'session') return sessions.get(key)?.title ?? usage.goneSession
    if (by === 'connection') return catalog?.connections.find(({ id }) => id === key)?.name ?? usage.goneConnection
    return key
  }
}
