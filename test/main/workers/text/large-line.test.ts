import { describe, expect, test } from 'vitest'
import { createHeldLines } from '../../../../src/main/workers/text/held-lines.ts'
import { parseLargeLine } from '../../../../src/main/workers/text/large-line.ts'

describe('a large line', () => {
  test('WK-36 becomes its value on another thread, whatever becomes of its bytes meanwhile', async () => {
    const line = Buffer.from(JSON.stringify({ text: 'é'.repeat(600_000), list: [1, null] }))
    const parsed = parseLargeLine(line)
    line.fill(0)
    expect(await parsed).toEqual({ text: 'é'.repeat(600_000), list: [1, null] })
  })

  test('WK-36 may hold any text: what stands in it counts as one value', async () => {
    const text = `${'[{,"\\'.repeat(400_000)}"`
    expect(await parseLargeLine(Buffer.from(JSON.stringify([text, '\\', text])))).toEqual([text, '\\', text])
  })

  test.each([
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['not JSON', Buffer.from('{"a":')],
    ['of more values than a host should hold', Buffer.from(`[${'{},'.repeat(400_000)}0]`)],
    ['nested deeper than can be carried over', Buffer.from('['.repeat(200_000) + ']'.repeat(200_000))],
  ])('WK-37 that is %s is no value', async (_what, line) => {
    expect(await parseLargeLine(line)).toBeUndefined()
  })
})

describe('lines that wait for one another', () => {
  const lines = (...texts: string[]): Uint8Array[] => texts.map((text) => Buffer.from(text))

  test('WK-39 are handled in order, and the end after the last', async () => {
    const seen: string[] = []
    const slow = Promise.withResolvers<void>()
    const handled = Promise.withResolvers<void>()
    const held = createHeldLines({
      onLine(line) {
        const text = Buffer.from(line).toString()
        if (text !== 'slow') return void seen.push(text)
        return slow.promise.then(() => void seen.push(text))
      },
      pause: () => void seen.push('pause'),
      resume: () => {
        seen.push('resume')
        handled.resolve()
      },
    })
    const [a, b, c] = lines('a', 'slow', 'c')
    for (const line of [a, b, c]) if (line !== undefined) held.take(line)
    c?.fill(0)
    held.finish(() => void seen.push('end'))
    expect(seen).toEqual(['a', 'pause'])
    slow.resolve()
    await handled.promise
    expect(seen).toEqual(['a', 'pause', 'slow', 'c', 'end', 'resume'])
  })

  test('one that fails holds back nothing', async () => {
    const resumed = Promise.withResolvers<void>()
    const held = createHeldLines({
      onLine: () => Promise.reject(new Error('of the test')),
      pause: () => undefined,
      resume: resumed.resolve,
    })
    held.take(Buffer.from('x'))
    let ended = false
    held.finish(() => void (ended = true))
    await resumed.promise
    expect(ended).toBe(true)
  })
})
