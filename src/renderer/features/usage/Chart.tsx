import { useEffect, useRef, useState } from 'react'
import { drawBars } from './bar-drawing.ts'
import type { ChartData } from './chart-data.ts'
import styles from './usage.module.css'

export interface ChartProps {
  data: ChartData
  heading: string
  /** The whole of it in words, for whom does not see it. */
  label: string
  /** Days go from left to right, names from top to bottom. */
  direction: 'across' | 'down'
  format: (value: number) => string
}

/** Bars with a legend that says the figures of the one under the pointer. The figures are in a table beside it too. */
export function Chart({ data, heading, label, direction, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLUListElement>(null)
  const [under, setUnder] = useState<number | null>(null)
  useEffect(() => {
    if (place.current === null || legend.current === null) return undefined
    const drawing = drawBars(place.current, { data, direction, format, colours: legend.current, onPoint: setUnder })
    return () => {
      setUnder(null)
      drawing.end()
    }
  }, [data, direction, format])
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.chartHead}>
        <span className={styles.chartName}>{heading}</span>
        {under !== null && <span className={styles.under}>{data.labels[under]}</span>}
      </figcaption>
      <div ref={place} role="img" aria-label={label} className={styles.plot} data-direction={direction} />
      <ul ref={legend} className={styles.legend}>
        {data.parts.map(({ name, tone, values }) => {
          const value = under === null ? null : values[under]
          return (
            <li key={name} className={styles.part}>
              <span className={styles.swatch} data-tone={tone} aria-hidden="true" />
              {name}
              {value !== null && value !== undefined && <strong>{format(value)}</strong>}
            </li>
          )
        })}
      </ul>
    </figure>
  )
}
