import { z } from 'zod'

const MEBIBYTE = 1_048_576

export const MaterialKind = z.enum(['image', 'file', 'audio', 'video'])
/** What a person attaches, or an agent publishes. */
export type MaterialKind = z.infer<typeof MaterialKind>

export interface MaterialLimits {
  maxBytes: number
  /** Width times height; null where there is none. */
  maxPixels: number | null
}

export const MATERIAL_LIMITS: Readonly<Record<MaterialKind, MaterialLimits>> = {
  image: { maxBytes: 20 * MEBIBYTE, maxPixels: 40_000_000 },
  file: { maxBytes: 50 * MEBIBYTE, maxPixels: null },
  audio: { maxBytes: 50 * MEBIBYTE, maxPixels: null },
  video: { maxBytes: 50 * MEBIBYTE, maxPixels: null },
}

/** One shot, already authorised: the bytes of one item, and what is known of them. */
export type OpenMaterial = (signal: AbortSignal) => Promise<OpenedMaterial>

export interface OpenedMaterial {
  stream: AsyncIterable<Uint8Array>
  filename?: string
  mediaType?: string
  size?: number
}

/** What is said of an item before its bytes are seen. Nothing of it is trusted. */
export interface MaterialHints {
  filename?: string
  mediaType?: string
  size?: number
}
