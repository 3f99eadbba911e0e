import { describe, expect, test } from 'vitest'
import { isUnattended, resolveMode, resolveSource, sandboxOf } from '../../../../src/main/runtime/policy/index.ts'
import { AppError } from '../../../../src/shared/errors.ts'

function failure(act: () => unknown): { code: string; detail: string | undefined } {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, detail: error.detail }
    throw error
  }
  return { code: 'none', detail: undefined }
}

describe('source', () => {
  test('RT-A59 a binding and a header that differ are a conflict, with that pair', () => {
    expect(failure(() => resolveSource({ binding: 'channel', header: 'cron', requested: 'desktop' }))).toEqual({
      code: 'source_conflict',
      detail: 'binding channel, header cron',
    })
  })

  test('RT-A59 a window that opens a channel session runs under the channel', () => {
    expect(resolveSource({ binding: 'channel', requested: 'desktop' })).toEqual({
      source: 'channel',
      entrySource: 'desktop',
    })
  })

  test('RT-A59 the first known wins: binding, header, current, requested', () => {
    expect(resolveSource({ header: 'cron', current: 'cron', requested: 'cli' }).source).toBe('cron')
    expect(resolveSource({ header: null, current: 'channel', requested: 'desktop' }).source).toBe('channel')
    expect(resolveSource({ current: 'browser', requested: 'desktop' }).source).toBe('browser')
    expect(resolveSource({ requested: 'acp' })).toEqual({ source: 'acp', entrySource: 'acp' })
  })

  test('RT-A59 every differing pair is named', () => {
    expect(failure(() => resolveSource({ binding: 'channel', header: 'cron', current: 'desktop' })).detail).toBe(
      'binding channel, header cron; binding channel, current desktop; header cron, current desktop',
    )
  })

  test('RT-A59 an entry from run to run may change, an owner may not', () => {
    expect(resolveSource({ current: 'desktop', requested: 'cli' }).source).toBe('desktop')
    expect(failure(() => resolveSource({ header: 'cron', current: 'channel' })).code).toBe('source_conflict')
    expect(failure(() => resolveSource({ binding: 'cron', current: 'cli' })).code).toBe('source_conflict')
  })

  test('RT-A59 an unknown word and no word at all are told apart', () => {
    expect(failure(() => resolveSource({ binding: 'channel', requested: 'telegram' })).code).toBe('source_invalid')
    expect(failure(() => resolveSource({})).code).toBe('source_unknown')
  })
})

describe('mode', () => {
  test('RT-A58 a channel is yolo, whatever was asked', () => {
    expect(resolveMode({ source: 'channel', requested: 'nonsense', osEnabled: false })).toEqual({
      mode: 'yolo',
      forced: true,
    })
  })

  test('RT-A58 on the desktop nonsense is refused', () => {
    const ask = { source: 'desktop', osEnabled: false } as const
    expect(failure(() => resolveMode({ ...ask, requested: 'nonsense' })).code).toBe('mode_invalid')
    expect(failure(() => resolveMode({ ...ask, requested: 'plan', sessionMode: 'nonsense' })).code).toBe('mode_invalid')
  })

  test('RT-A58 on the desktop nothing is agent', () => {
    expect(resolveMode({ source: 'desktop', requested: null, osEnabled: false })).toEqual({
      mode: 'agent',
      forced: false,
    })
  })

  test('RT-A58 cron never gets os, and a person only where the settings offer it', () => {
    expect(failure(() => resolveMode({ source: 'cron', requested: 'os', osEnabled: true })).code).toBe(
      'mode_not_allowed',
    )
    expect(failure(() => resolveMode({ source: 'cli', sessionMode: 'os', osEnabled: false })).code).toBe(
      'mode_not_allowed',
    )
    expect(resolveMode({ source: 'cli', requested: 'os', osEnabled: true }).mode).toBe('os')
  })

  test('RT-A58 what was asked for now wins over what the session says', () => {
    expect(resolveMode({ source: 'cli', requested: 'plan', sessionMode: 'yolo', osEnabled: false }).mode).toBe('plan')
    expect(resolveMode({ source: 'cron', sessionMode: 'plan', osEnabled: false }).mode).toBe('plan')
  })

  test('RT-A58 plan is read-only, and the sandbox confines only where it is switched on', () => {
    expect(
      (['plan', 'agent', 'yolo', 'os'] as const).map((mode) => [sandboxOf(mode, true), sandboxOf(mode, false)]),
    ).toEqual([
      ['read_only', 'read_only'],
      ['workspace', 'none'],
      ['workspace', 'none'],
      ['none', 'none'],
    ])
  })

  test('RT-A58 cron and channel run without a person', () => {
    const sources = ['desktop', 'browser', 'cli', 'acp', 'cron', 'channel'] as const
    expect(sources.filter(isUnattended)).toEqual(['cron', 'channel'])
  })
})
