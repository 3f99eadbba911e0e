import { expect, test } from 'vitest'
import type { ConnectionInfo } from '../../../src/main/bridge/index.ts'
import { browserOnlookers, together } from '../../../src/main/notifications/index.ts'

const browser = (shows: string | null, focused: boolean): ConnectionInfo => ({
  generation: 'g',
  kind: 'browser',
  shows,
  focused,
})

test('a browser is looked at while it has the focus, and at what it shows', () => {
  const open: ConnectionInfo[] = [browser('s1', false), { ...browser('s1', true), kind: 'cli' }]
  const onlookers = browserOnlookers(() => open)
  expect([onlookers.anyFocused(), onlookers.shows([{ kind: 'session', sessionId: 's1' }])]).toEqual([false, false])
  open.push(browser('approvals', true), browser(null, true))
  expect(onlookers.anyFocused()).toBe(true)
  expect(onlookers.shows([{ kind: 'session', sessionId: 's1' }])).toBe(false)
  expect(onlookers.shows([{ kind: 'gateway' }, { kind: 'approvals', decisionId: 'd' }])).toBe(true)
})

test('of several shells one is enough', () => {
  const nobody = browserOnlookers(() => [])
  const somebody = browserOnlookers(() => [browser('gateway', true)])
  const all = together(nobody, somebody)
  expect([all.anyFocused(), all.shows([{ kind: 'gateway' }]), all.shows([{ kind: 'home' }])]).toEqual([
    true,
    true,
    false,
  ])
})
