/** What an item is, by its bytes. What it is called decides only where the bytes say nothing. */
import { AppError, assertNever } from '../../../shared/errors.ts'
import { cleanFilename, withExtension } from './filename.ts'
import { MATERIAL_LIMITS } from './limits.ts'
import type { MaterialHints, MaterialKind } from './limits.ts'

/** So much of the beginning is looked at. */
export const SAMPLE_BYTES = 256 * 1024

/** What every model that sees images takes, with the extensions that fit. */
export const IMAGES: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/gif': ['gif'],
  'image/webp': ['webp'],
}
const MEDIA_TYPE = /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,95}$/i

export interface Identity {
  kind: MaterialKind
  filename: string
  mediaType: string
}

/**
 * `whole` reads all of the bytes; it is asked only of an image, for its dimensions.
 * @throws AppError `input_type_mismatch`: the bytes are not of that kind; `input_too_large`: an image of too many pixels.
 */
export async function identify(
  asked: MaterialKind,
  sample: Uint8Array,
  hints: MaterialHints,
  whole: () => Promise<Uint8Array>,
): Promise<Identity> {
  const found = await typeOf(sample)
  const filename = cleanFilename(hints.filename)
  switch (asked) {
    case 'image': {
      const extensions = found === null ? undefined : IMAGES[found]
      if (found === null || extensions === undefined) {
        throw mismatch('This is not a PNG, JPEG, GIF or WebP image.', found)
      }
      await checkDimensions(await whole())
      return { kind: 'image', filename: withExtension(filename, extensions), mediaType: found }
    }
    case 'audio':
    case 'video':
      if (found?.startsWith(`${asked}/`) !== true) throw mismatch(`This is no ${asked} file.`, found)
      return { kind: asked, filename, mediaType: found }
    case 'file': {
      const family = found?.split('/')[0]
      const kind = family === 'audio' || family === 'video' ? family : 'file'
      return { kind, filename, mediaType: found ?? hinted(hints.mediaType) ?? guess(sample) }
    }
    default:
      return assertNever(asked)
  }
}

/** Loaded when the first item comes: no start pays for it. */
async function typeOf(sample: Uint8Array): Promise<string | null> {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(sample).catch(() => undefined)
  // An animated PNG is one.
  return found?.mime === 'image/apng' ? 'image/png' : (found?.mime ?? null)
}

async function checkDimensions(bytes: Uint8Array): Promise<void> {
  const { imageSize } = await import('image-size')
  const { width, height } = readSize(imageSize, bytes)
  const { maxPixels } = MATERIAL_LIMITS.image
  if (maxPixels !== null && width * height > maxPixels) {
    throw new AppError('input_too_large', `This image has more than ${maxPixels / 1_000_000} million pixels.`, {
      detail: `${width} x ${height}`,
    })
  }
}

function readSize(
  imageSize: (bytes: Uint8Array) => { width: number; height: number },
  bytes: Uint8Array,
): { width: number; height: number } {
  try {
    const { width, height } = imageSize(bytes)
    if (width > 0 && height > 0) return { width, height }
  } catch (error) {
    throw mismatch('This image is damaged: its size cannot be read.', null, error)
  }
  throw mismatch('This image has no size.', null)
}

/** A hint that names what the bytes would have shown is none. */
function hinted(mediaType: string | undefined): string | null {
  const type = mediaType?.split(';')[0]?.trim().toLowerCase() ?? ''
  return MEDIA_TYPE.test(type) && IMAGES[type] === undefined ? type : null
}

function guess(sample: Uint8Array): string {
  if (sample.includes(0)) return 'application/octet-stream'
  try {
    // A sample may end within a character.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true })
    return 'text/plain'
  } catch {
    return 'application/octet-stream'
  }
}

function mismatch(message: string, found: string | null, cause?: unknown): AppError {
  return new AppError('input_type_mismatch', message, { ...(found === null ? {} : { detail: found }), cause })
}
