/** How text, times and paths are shown, wherever they come from. */
export { amount, byteSize, dayName, duration, exactTime, shortTime, timeOfDay } from './format.ts'
export { baseName, relativeTo, shortenMiddle } from './path.ts'
export { hasWords } from './has-words.ts'
export { CodeText } from './CodeText.tsx'
export { PathText } from './PathText.tsx'
export { revealParts, revealText } from '../../shared/reveal.ts'
export { Revealed } from './Revealed.tsx'
export { useNow } from './useNow.ts'
