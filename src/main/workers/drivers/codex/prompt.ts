/** A prompt as the app-server takes it. */
import type { Prompt } from '../../../../shared/vocabulary.ts'

export type UserInput = { type: 'text'; text: string; text_elements: [] } | { type: 'localImage'; path: string }

export function textInput(text: string): UserInput {
  return { type: 'text', text, text_elements: [] }
}

/** Images go along; of any other file the path is said, for the agent to read as any other. */
export function promptInput(prompt: Prompt, skills: readonly string[]): UserInput[] {
  const images = prompt.inputs.filter(({ mediaType }) => mediaType.startsWith('image/'))
  const files = prompt.inputs.filter(({ mediaType }) => !mediaType.startsWith('image/'))
  const text = prompt.literal ? literalText(prompt.text, skills) : prompt.text
  const listed = files.length === 0 ? '' : `\n\nAttached files:\n${files.map(({ path }) => `- ${path}`).join('\n')}`
  return [textInput(text + listed), ...images.map(({ path }): UserInput => ({ type: 'localImage', path }))]
}

/** Codex puts a skill's text in for its `$name`; an invisible space after the `$` leaves the name a word. */
function literalText(text: string, skills: readonly string[]): string {
  const names = new Set(skills)
  return text.replaceAll(/\$([A-Za-z0-9_:-]+)/g, (whole, name: string) =>
    names.has(name) ? `$\u{200B}${name}` : whole,
  )
}
