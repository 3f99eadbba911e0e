import { screen, within } from '@testing-library/react'
import { describe, expect, test } from 'vitest'
import { HealthView } from '../../../../src/renderer/features/health/index.ts'
import { readLogLine } from '../../../../src/renderer/features/health/log-line.ts'
import { seriousFindings } from '../../support/axe.ts'
import { createFakeBridge, renderWithBridge } from '../../support/fake-bridge.tsx'
import type { FakeHandlers } from '../../support/fake-bridge.tsx'

function show(handlers: FakeHandlers = {}) {
  const host = createFakeBridge(
    {
      'system.health': () => ({
        checks: [
          { id: 'a', label: 'Program', status: 'pass', message: 'Node 24', hint: null },
          { id: 'b', label: 'Keys', status: 'warn', message: 'No keychain was found', hint: 'Install one.' },
        ],
      }),
      'agents.list': () => ({ agents: [] }),
      'sessions.ownership': () => ({ owners: [] }),
      'system.logs.tail': () => ({
        lines: ['{"atMs":0,"level":"warn","message":"a warning","fields":{"runId":"r1"}}'],
      }),
      ...handlers,
    },
    {
      workers: {
        workers: [
          {
            workerId: 'w1',
            sessionId: 's1',
            sessionTitle: 'Fix the test',
            product: 'Codex',
            pid: 42,
            state: 'held',
            sinceMs: 1,
            heldReason: 'group_outlived_leader',
          },
        ],
      },
    },
  )
  return { host, user: renderWithBridge(<HealthView />, host) }
}

describe('the health view', () => {
  test('shows each check with what to do about it', async () => {
    show()
    expect(await screen.findByText('No keychain was found')).toBeDefined()
    expect(screen.getByText('Install one.')).toBeDefined()
  })

  test('this machine is told at once; an agent that nobody looked at is checked beside it', async () => {
    const codex = { id: 'codex' as const, label: 'Codex', path: null, version: null, checks: [] }
    let unchecked = true
    const { host } = show({
      'agents.list': () => ({ agents: [{ ...codex, available: !unchecked, unchecked }] }),
      'agents.preflight': () => {
        unchecked = false
        return { ...codex, available: true, unchecked }
      },
    })
    expect(await screen.findByText('Ready')).toBeDefined()
    expect(host.calls('system.health')).toEqual([{ agents: false }])
    expect(host.calls('agents.preflight')).toEqual([{ agentId: 'codex' }])
  })

  test.each([
    ['was never installed', null, 'Not installed', 'Missing'],
    ['is there and does not start', '/usr/bin/codex', 'Not ready', 'Failed'],
  ])('an agent that %s is marked as that', async (_what, path, said, check) => {
    const starts = { id: 'starts', label: 'starts', status: 'fail' as const, message: 'No.', hint: 'Install it.' }
    const codex = { id: 'codex' as const, label: 'Codex', available: false, version: null, unchecked: false }
    show({ 'agents.list': () => ({ agents: [{ ...codex, path, checks: [starts] }] }) })
    expect(await screen.findByText(said)).toBeDefined()
    expect(screen.getByText(check)).toBeDefined()
  })

  test('a held worker says why, and is settled only after saying what that means', async () => {
    const { host, user } = show({ 'workers.settle': () => ({ settled: true }) })
    expect(screen.getByText('Held')).toBeDefined()
    expect(screen.getByText(/^Something that it started lives on/)).toBeDefined()
    await user.click(screen.getByRole('button', { name: 'Settle: Codex, Fix the test' }))
    const dialog = await screen.findByRole('alertdialog', { name: 'Settle Codex, Fix the test?' })
    expect(dialog.textContent).toContain('Settling ends no process')
    expect(host.calls('workers.settle')).toEqual([])
    await user.click(within(dialog).getByRole('button', { name: 'Settle' }))
    expect(host.calls('workers.settle')).toEqual([{ workerId: 'w1' }])
  })

  test('a worker whose end could not be proven says so where it was asked', async () => {
    const { user } = show({ 'workers.terminate': () => ({ outcome: 'held' }) })
    await user.click(screen.getByRole('button', { name: /^Terminate: Codex/ }))
    const dialog = await screen.findByRole('alertdialog')
    await user.click(within(dialog).getByRole('button', { name: 'Terminate' }))
    expect((await within(dialog).findByRole('alert')).textContent).toContain('it is held')
  })

  test('lines of the log are read by their level and message; others stand as they are', () => {
    const line = readLogLine(
      '{"atMs":0,"level":"error","message":"failed","fields":{"code":"x","err":{"message":"no","stack":"a"}}}',
    )
    expect(line).toMatchObject({ level: 'error', text: 'failed', rest: 'code: x · err: message no' })
    expect(line.time).toMatch(/^\d\d:\d\d:\d\d$/)
    expect(readLogLine('plain')).toEqual({ time: '', level: 'other', text: 'plain', rest: '' })
    expect(readLogLine('{"atMs":"never","level":"loud"}')).toMatchObject({ time: '', level: 'other' })
  })

  test('DT-A21 has no serious accessibility finding', async () => {
    show()
    await screen.findByText('a warning')
    expect(await seriousFindings()).toEqual([])
  })
})
