/** The grammar of JSON's numbers, a byte at a time. */

/** Where a number stands. */
export const Digits = { minus: 0, zero: 1, int: 2, dot: 3, fraction: 4, e: 5, sign: 6, exponent: 7 } as const

/** Whether a number may end here. */
export function isComplete(digits: number): boolean {
  return digits === Digits.zero || digits === Digits.int || digits === Digits.fraction || digits === Digits.exponent
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

export function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)
}

/** The grammar: null when this byte does not continue the number. */
export function nextDigits(digits: number, byte: number): number | null {
  const digit = isDigit(byte)
  switch (digits) {
    case Digits.minus:
      return digit ? (byte === 0x30 ? Digits.zero : Digits.int) : null
    case Digits.dot:
    case Digits.fraction:
      if (digit) return Digits.fraction
      return digits === Digits.fraction && isE(byte) ? Digits.e : null
    case Digits.e:
      if (byte === 0x2b || byte === 0x2d) return Digits.sign
      return digit ? Digits.exponent : null
    case Digits.sign:
    case Digits.exponent:
      return digit ? Digits.exponent : null
    default:
      if (digit && digits === Digits.int) return Digits.int
      if (byte === 0x2e) return Digits.dot
      return isE(byte) ? Digits.e : null
  }
}

function isE(byte: number): boolean {
  return byte === 0x65 || byte === 0x45
}
