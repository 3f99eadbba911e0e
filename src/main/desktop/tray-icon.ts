import { encodePng } from './png.ts'

export type TrayState = 'idle' | 'running' | 'waiting'

/** 16 points at twice the density. */
const SIZE = 32
const CENTRE = SIZE / 2
const RADIUS = 14
const RING = 4
/** Red, green and blue: grey reads on light and dark bars, amber asks. */
const COLOURS: Readonly<Record<TrayState, readonly [number, number, number]>> = {
  idle: [128, 134, 146],
  running: [74, 144, 226],
  waiting: [224, 150, 40],
}
/** Rows of a 3 by 5 cell, one bit a pixel. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = {
  '1': [2, 6, 2, 2, 7],
  '2': [7, 1, 7, 4, 7],
  '3': [7, 1, 7, 1, 7],
  '4': [5, 5, 7, 1, 1],
  '5': [7, 4, 7, 1, 7],
  '6': [7, 4, 7, 5, 7],
  '7': [7, 1, 1, 2, 2],
  '8': [7, 5, 7, 5, 7],
  '9': [7, 5, 7, 1, 7],
  '+': [0, 2, 7, 2, 0],
}
const GLYPH_SCALE = 3
const icons = new Map<string, Buffer>()

/**
 * The tray's picture as a PNG of 32 by 32 pixels. The state is told by shape as well as by colour, as in the windows: idle is
 * a ring, running a disc, waiting a disc with the count cut out of it (above nine a plus).
 */
export function trayIconPng(state: TrayState, count: number): Buffer {
  const glyph = state === 'waiting' ? (count > 9 ? '+' : String(count)) : ''
  const key = `${state}${glyph}`
  const known = icons.get(key)
  if (known !== undefined) return known
  const made = encodePng(SIZE, draw(state, GLYPHS[glyph] ?? []))
  icons.set(key, made)
  return made
}

function draw(state: TrayState, glyph: readonly number[]): Uint8Array {
  const pixels = new Uint8Array(SIZE * SIZE * 4)
  const [red, green, blue] = COLOURS[state]
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const distance = Math.hypot(x + 0.5 - CENTRE, y + 0.5 - CENTRE)
      const outer = covered(RADIUS - distance)
      const inner = state === 'idle' ? covered(RADIUS - RING - distance) : 0
      const alpha = isInGlyph(glyph, x, y) ? 0 : outer - inner
      pixels.set([red, green, blue, Math.round(alpha * 255)], (y * SIZE + x) * 4)
    }
  }
  return pixels
}

/** How much of a pixel lies inside an edge that is so far away: a soft rim. */
const covered = (depth: number): number => Math.min(1, Math.max(0, depth + 0.5))

function isInGlyph(glyph: readonly number[], x: number, y: number): boolean {
  const column = Math.floor((x - CENTRE + 1.5 * GLYPH_SCALE) / GLYPH_SCALE)
  const row = Math.floor((y - CENTRE + 2.5 * GLYPH_SCALE) / GLYPH_SCALE)
  if (column < 0 || column > 2) return false
  return (((glyph[row] ?? 0) >> (2 - column)) & 1) === 1
}
