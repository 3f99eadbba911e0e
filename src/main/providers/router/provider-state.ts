/**
 * Finds what a Provider alone can read in a request: sealed reasoning, compaction items, references to items it stores.
 * A route that moved to another Provider drops them from every request (sticky portability).
 */
import { AppError } from '../../../shared/errors.ts'
import { OUR_COMPACTION } from './compaction-request.ts'
import type { JsonPath } from './json-paths.ts'
import type { JsonContainer } from './json-scanner.ts'
import type { Splice } from './splices.ts'
import { createListCutter } from './splices.ts'
import type { ListCutter } from './splices.ts'
import type { RouteProtocol } from './types.ts'

const RESPONSES_ITEMS: ReadonlySet<string> = new Set(['reasoning', 'compaction', 'item_reference'])
const MESSAGES_BLOCKS: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking'])

/** Told every value of the body, in order. */
export interface StateStripper {
  valueStarts(path: JsonPath, kind: JsonContainer | 'scalar', start: number, memberStart: number): void
  text(path: JsonPath, text: string | null): void
  valueEnds(path: JsonPath, end: number): void
  /** The cuts, once the body has ended. */
  cuts(): readonly Splice[]
}

/** @throws AppError `route_binding_incompatible` from `text`: an item names its type twice, so no cut of it is safe. */
export function createStateStripper(protocol: RouteProtocol): StateStripper {
  return protocol === 'responses' ? createResponsesStripper() : createMessagesStripper()
}

function createResponsesStripper(): StateStripper {
  const cuts: Splice[] = []
  const members = createListCutter(cuts)
  let items: ListCutter | null = null
  let type = createTypeOnce()
  let isOurs = false
  return {
    valueStarts(path, kind, start, memberStart) {
      if (path.length === 1) {
        members.itemStarts(memberStart)
        if (path[0] === 'input' && kind === 'array') items = createListCutter(cuts)
      } else if (isItem(path, 'input')) {
        items?.itemStarts(start)
        type = createTypeOnce()
        isOurs = false
      }
    },
    text(path, text) {
      if (path.length !== 3 || path[0] !== 'input' || path[1] !== null) return
      if (path[2] === 'type') type.set(text)
      // A summary that was made here is text, and every Provider can read it.
      if (path[2] === 'encrypted_content') isOurs = text?.startsWith(OUR_COMPACTION) === true
    },
    valueEnds(path, end) {
      if (path.length === 1) {
        if (path[0] === 'input') items?.listEnds()
        items = null
        members.itemEnds(end, path[0] === 'previous_response_id')
      } else if (isItem(path, 'input')) items?.itemEnds(end, RESPONSES_ITEMS.has(type.get()) && !isOurs)
    },
    cuts() {
      members.listEnds()
      return cuts
    },
  }
}

function createMessagesStripper(): StateStripper {
  const cuts: Splice[] = []
  let messages: ListCutter | null = null
  /** The cuts inside one message: forgotten when the whole message goes. */
  let inner: Splice[] = []
  let blocks: ListCutter | null = null
  let emptied = false
  let type = createTypeOnce()
  let content = 0
  return {
    valueStarts(path, kind, start) {
      if (path.length === 1 && path[0] === 'messages' && kind === 'array') messages = createListCutter(cuts)
      else if (isItem(path, 'messages')) {
        messages?.itemStarts(start)
        inner = []
        emptied = false
        content = 0
      } else if (path.length === 3 && isContent(path) && kind === 'array') {
        if (++content > 1) throw unsafe('content')
        blocks = createListCutter(inner)
      } else if (isBlock(path)) {
        blocks?.itemStarts(start)
        type = createTypeOnce()
      }
    },
    text(path, text) {
      if (path.length === 5 && path[4] === 'type' && path[3] === null && isContent(path)) type.set(text)
    },
    valueEnds(path, end) {
      if (path.length === 1) {
        messages?.listEnds()
        messages = null
      } else if (isItem(path, 'messages')) {
        messages?.itemEnds(end, emptied)
        // One by one: as arguments, a hundred thousand overflow the stack.
        if (!emptied) for (const cut of inner) cuts.push(cut)
      } else if (path.length === 3 && isContent(path)) {
        const kept = blocks?.listEnds()
        emptied = kept === 0 && inner.length > 0
        blocks = null
      } else if (isBlock(path)) blocks?.itemEnds(end, MESSAGES_BLOCKS.has(type.get()))
    },
    cuts: () => cuts,
  }
}

function createTypeOnce(): { set(text: string | null): void; get(): string } {
  let type: string | null = null
  return {
    set(text) {
      if (type !== null) throw unsafe('type')
      type = text ?? ''
    },
    get: () => type ?? '',
  }
}

function unsafe(key: string): AppError {
  return new AppError(
    'route_binding_incompatible',
    'This session moved to another Provider, and a message of it cannot be freed safely of what only the old one can read.',
    { detail: `${key} is named twice in one item` },
  )
}

function isItem(path: JsonPath, list: string): boolean {
  return path.length === 2 && path[0] === list && path[1] === null
}

/** At or below a message's content. */
function isContent(path: JsonPath): boolean {
  return path[0] === 'messages' && path[1] === null && path[2] === 'content'
}

function isBlock(path: JsonPath): boolean {
  return path.length === 4 && path[3] === null && isContent(path)
}
