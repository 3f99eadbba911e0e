/**
 * Many words looked for at once, in one pass (Aho and Corasick, 1975). Where no word has begun, most characters are
 * skipped unseen (Wu and Manber, 1994): ordinary text costs little, whatever the number of words.
 */
export interface WordList {
  scanner(): TextScanner
  /** The first place at or after `from` where a word may begin; -1: no word stands in the rest of `text`. */
  candidate(text: string, from: number): number
}

export interface TextScanner {
  /** Goes on with `text` at `from`. Told, wherever words end: the place after them, and the length of the longest. */
  scan(text: string, from: number, found: (end: number, length: number) => void): void
  /** How many of the last characters could be the beginning of a word. */
  depth(): number
  /** What comes next follows on nothing. */
  reset(): void
}

interface Node {
  readonly next: Map<number, Node>
  readonly depth: number
  /** The longest proper suffix of this prefix that is a prefix as well. */
  fallback: Node | null
  /** Length of the longest word that ends here. */
  ends: number
}

/** Answers a maker of scanners, so that the words are prepared once. A word has at least three characters. */
export function compileWords(wordLists: readonly Iterable<string>[]): WordList {
  const words = wordLists.flatMap((list) => [...list])
  const root = createNode(0)
  for (const word of words) addWord(root, word)
  linkFallbacks(root)
  const { window, candidate } = compileSkips(words)
  const mayBegin = new Uint8Array(PAIRS)
  for (const word of words) mayBegin[pairAt(word, 0)] = 1

  return {
    candidate,
    scanner() {
      let at = root
      return {
        scan(text, from, found) {
          let index = from
          while (index < text.length) {
            if (at === root) {
              const next = candidate(text, index)
              // What is left is shorter than any word: it may be the beginning of one.
              index = next === -1 ? Math.max(index, text.length - window + 1) : next
              // The last character is looked at alone.
              while (index < text.length - 1 && mayBegin[pairAt(text, index)] === 0) index += 1
              if (index >= text.length) return
            }
            at = follow(root, at, text.charCodeAt(index))
            index += 1
            if (at.ends > 0) found(index, at.ends)
          }
        },
        depth: () => at.depth,
        reset() {
          at = root
        },
      }
    },
  }
}

const PAIRS = 0x1000

/** Of a character and the one after it. */
function pairAt(text: string, index: number): number {
  return ((text.charCodeAt(index) << 5) ^ text.charCodeAt(index + 1)) & (PAIRS - 1)
}

const BLOCK = 3
/** A longer window skips more, but leaves more of a text's end to be looked at one by one. */
const MAX_WINDOW = 32
const HASHES = 0x8000

function hashAt(text: string, last: number): number {
  const code = text.charCodeAt(last - 2) * 5443 + text.charCodeAt(last - 1) * 71 + text.charCodeAt(last)
  return code & (HASHES - 1)
}

/** How far the last three characters of a window allow it to be moved without passing over the start of a word. */
function compileSkips(words: readonly string[]): { window: number } & Pick<WordList, 'candidate'> {
  if (words.length === 0) return { window: 1, candidate: () => -1 }
  const window = words.reduce((shortest, word) => Math.min(shortest, word.length), MAX_WINDOW)
  const longest = window - BLOCK + 1
  const skips = new Uint8Array(HASHES).fill(longest)
  for (const word of words) {
    for (let last = BLOCK - 1; last < window; last++) {
      const hash = hashAt(word, last)
      skips[hash] = Math.min(skips[hash] ?? 0, window - 1 - last)
    }
  }
  return {
    window,
    candidate(text, from) {
      let last = from + window - 1
      const end = text.length - 3 * longest
      while (last < text.length) {
        // Four at once, for as long as none holds the next back: each is looked up without waiting for the one before.
        while (last < end) {
          const near = (skips[hashAt(text, last)] ?? 0) + (skips[hashAt(text, last + longest)] ?? 0)
          const far = (skips[hashAt(text, last + 2 * longest)] ?? 0) + (skips[hashAt(text, last + 3 * longest)] ?? 0)
          if (near + far < 4 * longest) break
          last += 4 * longest
        }
        const skip = skips[hashAt(text, last)] ?? 0
        if (skip === 0) return last - window + 1
        last += skip
      }
      return -1
    },
  }
}

function createNode(depth: number): Node {
  return { next: new Map(), depth, fallback: null, ends: 0 }
}

function addWord(root: Node, word: string): void {
  let at = root
  for (let index = 0; index < word.length; index++) {
    const code = word.charCodeAt(index)
    const next = at.next.get(code) ?? createNode(at.depth + 1)
    at.next.set(code, next)
    at = next
  }
  at.ends = at.depth
}

/** Level by level: a node's fallback is shorter than the node, so it is complete by then. */
function linkFallbacks(root: Node): void {
  let level = [root]
  while (level.length > 0) {
    const below: Node[] = []
    for (const node of level) {
      for (const [code, child] of node.next) {
        child.fallback = node === root ? root : follow(root, node.fallback ?? root, code)
        child.ends = Math.max(child.ends, child.fallback.ends)
        below.push(child)
      }
    }
    level = below
  }
}

function follow(root: Node, from: Node, code: number): Node {
  let at: Node | null = from
  while (at !== null) {
    const next = at.next.get(code)
    if (next !== undefined) return next
    at = at.fallback
  }
  return root
}
