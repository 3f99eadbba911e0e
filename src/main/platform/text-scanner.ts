/**
 * Many words looked for at once, in one pass (Aho and Corasick, 1975). Where no word has begun, most characters are
 * skipped unseen (Wu and Manber, 1994): ordinary text costs little, whatever the number of words.
 */
export interface WordList {
  scanner(): TextScanner
  /** False: no word stands in `text`. */
  mayHold(text: string): boolean
  readonly words: readonly string[]
  /** The tries that the words are in. */
  readonly roots: readonly Node[]
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

/** A maker of scanners for these words, of at least three characters each, and for those of `beside`, whose trie it shares. */
export function compileWords(wordLists: readonly Iterable<string>[], beside?: WordList): WordList {
  const own = wordLists.flatMap((list) => [...list])
  const words = [...own, ...(beside?.words ?? [])]
  const roots = [createTrie(own), ...(beside?.roots ?? [])]
  const { window, mayStand, mayBegin } = compileSkips(words)

  return {
    words,
    roots,
    mayHold(text) {
      for (let from = 0; from + window <= text.length; from += PIECE - window + 1) {
        if (mayStand(0, copyPiece(text, from)) !== -1) return true
      }
      return false
    },
    scanner() {
      const at = [...roots]
      let depth = 0

      /** Answers the length of the longest word that ends with this character. */
      function step(code: number): number {
        let ends = 0
        depth = 0
        roots.forEach((root, trie) => {
          const node = follow(root, at[trie] ?? root, code)
          at[trie] = node
          depth = Math.max(depth, node.depth)
          ends = Math.max(ends, node.ends)
        })
        return ends
      }

      return {
        scan(text, from, found) {
          for (let piece = from; piece < text.length; piece += PIECE) {
            const length = copyPiece(text, piece)
            let index = 0
            while (index < length) {
              if (depth === 0) index = mayBegin(index, length)
              if (index === length) break
              const ends = step(text.charCodeAt(piece + index))
              index += 1
              if (ends > 0) found(piece + index, ends)
            }
          }
        },
        depth: () => depth,
        reset() {
          roots.forEach((root, trie) => (at[trie] = root))
          depth = 0
        },
      }
    },
  }
}

/** So much of a text is looked at in one go. */
const PIECE = 16_384
/**
 * The low eight bits of its characters: where a word stands, those of the word do too, and bytes are read several times as
 * fast as characters.
 */
const low = Buffer.alloc(PIECE + 1)
const blocks = new DataView(low.buffer, low.byteOffset, low.length)

/** Fewer characters, such as a name or an id, are copied faster than a call for it is made. */
const FEW = 48

/** Answers how many characters there are now. */
function copyPiece(text: string, from: number): number {
  const length = Math.min(text.length - from, PIECE)
  if (length > FEW) return low.write(length === text.length ? text : text.slice(from, from + length), 'latin1')
  for (let index = 0; index < length; index++) low[index] = text.charCodeAt(from + index)
  return length
}

const BLOCK = 3
const BLOCK_BITS = 15
const PAIR_BITS = 12
/** A longer window skips more, but leaves more of a text's end to be looked at one by one. */
const MAX_WINDOW = 32

/** Of the low three bytes (Knuth's multiplicative one). */
function hash(bytes: number, bits: number): number {
  return Math.imul(bytes << 8, 0x9e3779b1) >>> (32 - bits)
}

interface Skips {
  /** No word is shorter. */
  window: number
  /** The first place in the piece, at or after `from`, where a word may stand; -1: there is none. */
  mayStand(from: number, length: number): number
  /** The same where the word may go on after the piece; `length`: there is none. */
  mayBegin(from: number, length: number): number
}

/** How far the last three characters of a window allow it to be moved without passing over the start of a word. */
function compileSkips(words: readonly string[]): Skips {
  if (words.length === 0) return { window: 1, mayStand: () => -1, mayBegin: (_, length) => length }
  const window = words.reduce((shortest, word) => Math.min(shortest, word.length), MAX_WINDOW)
  const longest = window - BLOCK + 1
  const skips = new Uint8Array(1 << BLOCK_BITS).fill(longest)
  const pairs = new Uint8Array(1 << PAIR_BITS)
  for (const word of words) {
    const bytes = Buffer.from(word, 'latin1')
    pairs[hash(bytes.readUInt16LE(0), PAIR_BITS)] = 1
    for (let first = 0; first < longest; first++) {
      const block = hash(bytes.readUIntLE(first, BLOCK), BLOCK_BITS)
      skips[block] = Math.min(skips[block] ?? 0, longest - 1 - first)
    }
  }

  /** `first`: of the last three characters of the window. */
  const skipAt = (first: number): number => skips[hash(blocks.getUint32(first, true), BLOCK_BITS)] ?? 0

  function mayStand(from: number, length: number): number {
    let first = from + window - BLOCK
    const end = length - BLOCK
    while (first <= end) {
      // Four at once, for as long as none holds the next back: each is looked up without waiting for the one before.
      while (first + 3 * longest <= end) {
        const near = skipAt(first) + skipAt(first + longest)
        const far = skipAt(first + 2 * longest) + skipAt(first + 3 * longest)
        if (near + far < 4 * longest) break
        first += 4 * longest
      }
      if (first > end) break
      const skip = skipAt(first)
      if (skip === 0) return first - window + BLOCK
      first += skip
    }
    return -1
  }

  return {
    window,
    mayStand,
    mayBegin(from, length) {
      const place = mayStand(from, length)
      // What is left is shorter than any word: it may be the beginning of one.
      let index = place === -1 ? Math.max(from, length - window + 1) : place
      // The last character is looked at alone.
      while (index < length - 1 && pairs[hash(blocks.getUint16(index, true), PAIR_BITS)] === 0) index += 1
      return index
    },
  }
}

function createTrie(words: readonly string[]): Node {
  const root = createNode(0)
  for (const word of words) addWord(root, word)
  linkFallbacks(root)
  return root
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
