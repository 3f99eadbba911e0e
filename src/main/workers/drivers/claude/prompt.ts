/** A prompt as Claude Code takes it: text, pictures, and the paths of other files. */
import type { Prompt, PromptInput } from '../../../../shared/vocabulary.ts'
import { readPlain } from '../../../platform/index.ts'

/** What the Messages API takes. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
const PICTURE_BYTES = 5 * 1_024 * 1_024

/** Without pictures it is ready at once, so that the prompt is written before whatever is called next. */
export function promptContent(prompt: Prompt): string | Promise<string | unknown[]> {
  const text = prompt.literal ? literalText(prompt.text) : prompt.text
  const pictures = prompt.inputs.filter(isPicture)
  if (pictures.length === 0) return text + listed(prompt.inputs)
  return withPictures(text, prompt.inputs, pictures)
}

async function withPictures(
  text: string,
  inputs: readonly PromptInput[],
  pictures: readonly PromptInput[],
): Promise<unknown[]> {
  const shown = await Promise.all(pictures.map(picture))
  // One that is gone since is named like any other file.
  const left = inputs.filter((input) => !pictures.includes(input) || shown[pictures.indexOf(input)] === null)
  return [{ type: 'text', text: text + listed(left) }, ...shown.filter((block) => block !== null)]
}

function isPicture({ mediaType, bytes }: PromptInput): boolean {
  return PICTURES.has(mediaType) && bytes <= PICTURE_BYTES
}

async function picture({ path, mediaType }: PromptInput): Promise<object | null> {
  try {
    const data = (await readPlain(path, PICTURE_BYTES)).toString('base64')
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data } }
  } catch {
    return null
  }
}

function listed(files: readonly PromptInput[]): string {
  return files.length === 0 ? '' : `\n\nAttached files:\n${files.map(({ path }) => `- ${path}`).join('\n')}`
}

/** A leading slash would run a command, and an `@` before a word read that file unasked. */
function literalText(text: string): string {
  const plain = text.replaceAll(/(^|[^\p{L}\p{N}_])@(?=\S)/gu, '$1@\u{200B}')
  return plain.startsWith('/') ? `\n${plain}` : plain
}
