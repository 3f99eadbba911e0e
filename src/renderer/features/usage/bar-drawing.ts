import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { layersOf } from './chart-data.ts'
import type { ChartData } from './chart-data.ts'

export interface BarOptions {
  data: ChartData
  direction: 'across' | 'down'
  format: (value: number) => string
  /** Where the colours are read: an element of each part's `data-tone`, as the style sheet paints it. */
  colours: HTMLElement
  /** The place of the bars under the pointer, or null. */
  onPoint: (index: number | null) => void
}

/** Bar, gap and what is around them, in CSS pixels. */
const ACROSS_HEIGHT = 160
const DOWN_ROW = 24
const NAMES_WIDTH = 120
const VALUES_WIDTH = 56
const LETTERS = 16
/** There is no half a request: lines stand at whole numbers. */
const STEPS = Array.from({ length: 16 }, (_, zeros) => [1, 2, 5].map((digit) => digit * 10 ** zeros)).flat()

/** Draws bars into `place`, wide as it is, until `end`. Where there is no canvas (a test's page) nothing is drawn. */
export function drawBars(place: HTMLElement, options: BarOptions): { end(): void } {
  if (document.createElement('canvas').getContext('2d') === null) return { end() {} }
  const layers = layersOf(options.data)
  const height = options.direction === 'across' ? ACROSS_HEIGHT : (options.data.labels.length + 1.5) * DOWN_ROW
  const plot = new UPlot(
    optionsOf(options, layers, place.clientWidth, height),
    [options.data.labels.map((_, at) => at), ...layers.map(({ values }) => [...values])],
    place,
  )
  const fit = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }))
  fit.observe(place)
  // A canvas does not follow the style sheet by itself, and the bars keep their colours with their shapes.
  const repaint = (): void => plot.redraw()
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  scheme.addEventListener('change', repaint)
  const theme = new MutationObserver(repaint)
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return {
    end() {
      fit.disconnect()
      scheme.removeEventListener('change', repaint)
      theme.disconnect()
      plot.destroy()
    },
  }
}

function optionsOf(
  { data: { labels }, direction, format, colours, onPoint }: BarOptions,
  layers: ReturnType<typeof layersOf>,
  width: number,
  height: number,
): UPlot.Options {
  const across = direction === 'across'
  const colourOf = (tone: string): string => {
    const swatch = colours.querySelector(`[data-tone="${tone}"]`)
    return swatch === null ? 'gray' : getComputedStyle(swatch).backgroundColor
  }
  const muted = (): string => getComputedStyle(colours).color
  const lines = (): string => getComputedStyle(colours).borderBlockStartColor
  const bars = UPlot.paths.bars?.({ size: [0.7, 32], align: 0 })
  const fontOf = getComputedStyle(colours)
  const font = `${fontOf.fontSize} ${fontOf.fontFamily}`
  const names: UPlot.Axis = {
    scale: 'x',
    size: across ? DOWN_ROW : NAMES_WIDTH,
    font,
    stroke: muted,
    grid: { show: false },
    ticks: { show: false },
    // As many names as there is room for; a place between two has none.
    splits: () => placesOf(labels.length, across ? Math.max(2, Math.floor(width / 110)) : labels.length),
    values: (_plot, splits) => splits.map((at) => short(labels[at] ?? '')),
  }
  const values: UPlot.Axis = {
    scale: 'y',
    size: across ? VALUES_WIDTH : DOWN_ROW,
    font,
    stroke: muted,
    grid: { stroke: lines, width: 1 },
    ticks: { show: false },
    incrs: STEPS,
    values: (_plot, splits) => splits.map((value) => format(value)),
  }
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 16, across ? 0 : 8, 0],
    cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, ori: across ? 0 : 1, dir: across ? 1 : -1, range: [-0.5, labels.length - 0.5] },
      y: { ori: across ? 1 : 0, range: (_plot, _min, max) => [0, max > 0 ? max * 1.05 : 1] },
    },
    // The first stands below, the second to the left.
    axes: across ? [names, values] : [values, names],
    series: [
      {},
      ...layers.map(({ name, tone }) => ({
        label: name,
        width: 0,
        fill: () => colourOf(tone),
        points: { show: false },
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  }
}

/** At most `most` places of `count`, evenly. */
function placesOf(count: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(count / most))
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step)
}

function short(label: string): string {
  const letters = Array.from(label)
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join('')}…` : label
}
