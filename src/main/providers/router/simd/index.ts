/**
 * Reads text sixteen bytes at a time, in WebAssembly: where JSON's strings end, and which events of a stream may be passed
 * over. There is one memory for all: who lays a text there is done with it before anything else can run. Indices are those
 * of the text. The idea of finding all that is special in a block at once: Langdale and Lemire, "Parsing gigabytes of JSON
 * per second", 2019.
 */
import { WASM } from './scan.wasm.ts'

/** What is laid there at once; what is longer is read block by block. */
export const BLOCK_BYTES = 65_536
/** A line that `skipEvents` passes over is as long. */
export const HEAD_BYTES = { least: 16, most: 256 } as const

/** As scan.as.ts has them. */
const STACK_AT = 0
const LOOKOUT_AT = 128
const HEAD_AT = 256
const REGISTERS_AT = 512
const TEXT_AT = 1_024
const Register = { now: 0, depth: 1, isKey: 2, escaped: 3, met: 4, matched: 5 } as const

/** Where a reader of JSON is. */
export interface JsonPlace {
  /** A state of the scanner's. */
  state: number
  depth: number
  /** Of the containers around, outermost first: 1 is an object; room for 128. */
  readonly stack: Uint8Array
  /** The string at hand is a key. */
  isKey: boolean
  /** The string at hand has an escape. */
  escaped: boolean
  /** A string began with what is looked out for, or may have. */
  met: boolean
  /** How many of those letters the string at hand begins with; -1: it begins otherwise. */
  matched: number
}

interface Scan {
  readonly memory: WebAssembly.Memory
  stringEnd(from: number, end: number): number
  lookOut(from: number, end: number, length: number, already: number): void
  skim(from: number, end: number, told: number, lookout: number): number
  lineEnd(from: number, end: number): number
  skipEvents(from: number, end: number, head: number): number
}

// Compiled from scan.as.ts, which is what vouches for the shape.
const scan = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(WASM, 'base64'))).exports as unknown as Scan
const memory = new Uint8Array(scan.memory.buffer)
const registers = new Int32Array(scan.memory.buffer, REGISTERS_AT, 6)
let textEnd = TEXT_AT
let laid = 0

/** At most `BLOCK_BYTES`. Answers a number by which `isLaid` tells whether the text is still there. */
export function lay(text: Uint8Array): number {
  memory.set(text, TEXT_AT)
  textEnd = TEXT_AT + text.length
  return ++laid
}

export function isLaid(text: number): boolean {
  return text === laid
}

/** What `skim` and `lookOut` look out for at the beginning of strings: at most 128 letters. */
export function layLookout(letters: Uint8Array): void {
  memory.set(letters, LOOKOUT_AT)
}

/**
 * From inside a string: the index of its closing quote; of a control character; of a backslash whose escape is none, or is
 * not whole in here; or the text's length.
 */
export function stringEnd(place: JsonPlace, from: number): number {
  registers[Register.escaped] = 0
  const end = scan.stringEnd(TEXT_AT + from, textEnd)
  if (registers[Register.escaped] === 1) place.escaped = true
  return end - TEXT_AT
}

/** Goes on to tell whether the string at hand begins with the `length` letters that are looked out for. */
export function lookOut(place: JsonPlace, from: number, length: number): void {
  registers[Register.met] = 0
  scan.lookOut(TEXT_AT + from, textEnd, length, place.matched)
  takeLookout(place)
}

/**
 * Inside of what nobody wants: brackets, commas and strings, as far as they are in order. Answers where something else
 * stands, or inside of a string that is cut, or `stringEnd`s where it should not: the rest is for the caller to read or
 * refuse. `told`: the depth of the container whose end is wanted. `lookout`: how many letters are looked out for.
 */
export function skim(place: JsonPlace, from: number, told: number, lookout: number): number {
  memory.set(place.stack, STACK_AT)
  registers[Register.now] = place.state
  registers[Register.depth] = place.depth
  registers[Register.met] = 0
  const end = scan.skim(TEXT_AT + from, textEnd, told, lookout)
  place.stack.set(memory.subarray(STACK_AT, STACK_AT + place.stack.length))
  place.state = read(Register.now)
  place.depth = read(Register.depth)
  place.isKey = read(Register.isKey) === 1
  if (lookout > 0) takeLookout(place)
  return end - TEXT_AT
}

/** The index of the next LF or CR; else the text's length. */
export function lineEnd(from: number): number {
  return scan.lineEnd(TEXT_AT + from, textEnd) - TEXT_AT
}

/** The line that `skipEvents` passes over, its end included. */
export function layHead(line: Uint8Array): void {
  memory.set(line, HEAD_AT)
}

/**
 * From the beginning of an event of a stream: passes over whole ones that consist of the line that was laid, so long, and
 * one of data. Answers where another one begins, one that a tab stands in, or one that is not whole in here.
 */
export function skipEvents(from: number, headLength: number): number {
  return scan.skipEvents(TEXT_AT + from, textEnd, headLength) - TEXT_AT
}

function takeLookout(place: JsonPlace): void {
  place.matched = read(Register.matched)
  if (read(Register.met) === 1) place.met = true
}

function read(register: number): number {
  return registers[register] as number
}
