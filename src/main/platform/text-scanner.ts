/** A scanner for many words at once (Aho and Corasick, 1975): one pass, whatever the number of words. */
export interface TextScanner {
  /** Takes the next character and answers the length of the longest word that ends with it, or 0. */
  step(code: number): number
  /** How many of the last characters could be the beginning of a word. */
  depth(): number
}

interface Node {
  readonly next: Map<number, Node>
  readonly depth: number
  /** The longest proper suffix of this prefix that is a prefix as well. */
  fallback: Node | null
  /** Length of the longest word that ends here. */
  ends: number
}

/** Answers a maker of scanners, so that the words are prepared once. */
export function compileScanner(wordLists: readonly Iterable<string>[]): () => TextScanner {
  const root = createNode(0)
  for (const words of wordLists) for (const word of words) addWord(root, word)
  linkFallbacks(root)
  return () => {
    let at = root
    return {
      step(code) {
        at = follow(root, at, code)
        return at.ends
      },
      depth: () => at.depth,
    }
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
