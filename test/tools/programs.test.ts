import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { missingPrograms, type Machine } from '../../tools/programs.ts'

const complete: Machine = {
  platform: 'linux',
  nodeVersion: 'v24.1.0',
  hasProgram: () => true,
  hasHeaders: () => true,
  loadFailure: () => null,
}

function without(name: string): Machine {
  return { ...complete, hasProgram: (each) => !each.startsWith(name) }
}

describe('missingPrograms', () => {
  test('says nothing on a complete machine', () => {
    expect(missingPrograms(complete)).toEqual([])
  })

  test('is content with Chrome in place of Chromium', () => {
    expect(missingPrograms(without('chromium'))).toEqual([])
  })

  test.each([
    ['gnome-keyring-daemon', 'gnome-keyring-daemon: apt-get install gnome-keyring'],
    ['dbus-run-session', 'dbus-run-session: apt-get install dbus'],
    ['dunst', 'dunst: apt-get install dunst'],
    ['Xvfb', 'Xvfb: apt-get install xvfb'],
    ['bwrap', 'bwrap: apt-get install bubblewrap'],
  ])('names %s and its package', (name, line) => {
    expect(missingPrograms(without(name))).toEqual([line])
  })

  test('names everything on an empty machine, one line each', () => {
    const empty: Machine = {
      platform: 'linux',
      nodeVersion: 'v20.20.2',
      hasProgram: () => false,
      hasHeaders: () => false,
      loadFailure: () => "Error: Cannot find module 'keytar'",
    }
    const lines = missingPrograms(empty)
    expect(lines.map((line) => line.split(/[ :]/)[0])).toEqual([
      'node',
      'chromium',
      'gnome-keyring-daemon',
      'dbus-run-session',
      'dbus-daemon',
      'dunst',
      'Xvfb',
      'bwrap',
      'keytar',
    ])
    expect(lines.at(-1)).toContain('libsecret-1-dev')
    expect(lines.every((line) => !line.includes('\n'))).toBe(true)
  })

  test('a keytar that does not load though its headers are there is to be built again', () => {
    const [line] = missingPrograms({ ...complete, loadFailure: () => 'Error: wrong ELF class' })
    expect(line).toBe('keytar: run `npm ci` again, which builds it (Error: wrong ELF class)')
  })

  test('elsewhere than on Linux only Node is asked for', () => {
    const mac: Machine = { ...complete, platform: 'darwin', hasProgram: () => false, loadFailure: () => 'no' }
    expect(missingPrograms(mac)).toEqual([])
    expect(missingPrograms({ ...mac, nodeVersion: 'v22.0.0' })).toHaveLength(1)
  })
})

test('the program ends with 1 and a line for each program that the PATH lacks', () => {
  const program = join(import.meta.dirname, '..', '..', 'tools', 'programs.ts')
  const run = spawnSync(process.execPath, [program], { env: { PATH: '/nowhere' }, encoding: 'utf8' })
  const expected = process.platform === 'linux' ? 1 : 0
  expect(run.status).toBe(expected)
  expect(run.stderr.includes('missing: chromium: apt-get install chromium')).toBe(expected === 1)
})
