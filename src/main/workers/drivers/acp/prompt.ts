/** A prompt as ACP content: text, pictures where the agent takes them, other files by their address. */
import { pathToFileURL } from 'node:url'
import type { Prompt, PromptInput } from '../../../../shared/vocabulary.ts'
import { readPlain } from '../../../platform/index.ts'

const IMAGE_BYTES = 8 * 1_024 * 1_024

/** Without inputs it is ready at once, so that the prompt is written before whatever is called next. */
export function promptBlocks(prompt: Prompt, images: boolean, before: string): unknown[] | Promise<unknown[]> {
  // A line break keeps a leading slash from being read as a command.
  const text = prompt.literal && prompt.text.startsWith('/') ? `\n${prompt.text}` : prompt.text
  const texts = [...(before === '' ? [] : [{ type: 'text', text: before }]), { type: 'text', text }]
  if (prompt.inputs.length === 0) return texts
  return Promise.all(prompt.inputs.map((input) => inputBlock(input, images))).then((blocks) => [...texts, ...blocks])
}

async function inputBlock(input: PromptInput, images: boolean): Promise<unknown> {
  const { path, mediaType, filename, bytes } = input
  if (images && mediaType.startsWith('image/') && bytes <= IMAGE_BYTES) {
    try {
      const data = (await readPlain(path, IMAGE_BYTES)).toString('base64')
      return { type: 'image', data, mimeType: mediaType }
    } catch {
      // Gone since: the agent is told where it was.
    }
  }
  return { type: 'resource_link', uri: pathToFileURL(path).href, name: filename, mimeType: mediaType, size: bytes }
}
