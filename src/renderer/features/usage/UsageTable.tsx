import type { UsageRow } from '../../../shared/bridge/index.ts'
import { strings } from '../../strings/index.ts'
import { duration } from '../../text/index.ts'
import styles from './usage.module.css'

export type UsageGroup = 'day' | 'session' | 'connection' | 'model'
type Column = 'input' | 'cacheWrite' | 'cacheRead' | 'output'

const COLUMNS = ['input', 'cacheWrite', 'cacheRead', 'output'] as const
const TIMES = ['firstByteMs', 'totalMs'] as const

export interface UsageTableProps {
  by: UsageGroup
  rows: readonly UsageRow[]
  caption: string
  nameOf: (key: string) => string
}

/** One row a group and their sum. */
export function UsageTable({ by, rows, caption, nameOf }: UsageTableProps) {
  const { usage } = strings
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
            <th scope="col">{usage.written}</th>
            <th scope="col">{usage.cached}</th>
            <th scope="col">{usage.output}</th>
            <th scope="col">{usage.firstByte}</th>
            <th scope="col">{usage.whole}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                <bdi className={styles.name} title={nameOf(row.key)}>
                  {nameOf(row.key)}
                </bdi>
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

type Sum = Pick<UsageRow, 'requests' | 'failed' | Column> & Partial<Pick<UsageRow, 'firstByteMs' | 'totalMs'>>

function Figures({ row }: { row: Sum }) {
  return (
    <>
      <td>{row.requests.toLocaleString('en')}</td>
      <td>{row.failed.toLocaleString('en')}</td>
      {COLUMNS.map((column) => (
        <td key={column}>{row[column]?.toLocaleString('en') ?? strings.usage.unknown}</td>
      ))}
      {TIMES.map((column) => (
        <td key={column}>{timeOf(row[column])}</td>
      ))}
    </>
  )
}

/** A mean over groups would need how many each had: the sum has none. */
function timeOf(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : duration(ms)
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
    cacheWrite: add('cacheWrite'),
    cacheRead: add('cacheRead'),
    output: add('output'),
  }
}
