import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { busAddresses, parseAddresses } from '../../../../src/main/notifications/dbus/address.ts'

const GUID = 'e0f5b7f1a7c04d9e8d4b3c2a1f0e9d8c'

describe('the address of the session bus', () => {
  test.each([
    ['unix:path=/run/user/1000/bus', [{ socket: '/run/user/1000/bus', guid: null }]],
    [`unix:path=/tmp/a%20b,guid=${GUID}`, [{ socket: '/tmp/a b', guid: GUID }]],
    [`unix:abstract=/tmp/dbus-Xy12,guid=${GUID}`, [{ socket: '\0/tmp/dbus-Xy12', guid: GUID }]],
    ['tcp:host=evil.example,port=1;unix:path=/a', [{ socket: '/a', guid: null }]],
  ])('is a socket of this machine: %s', (text, expected) => {
    expect(parseAddresses(text)).toEqual(expected)
  })

  test.each([
    'disabled:',
    'autolaunch:',
    'tcp:host=127.0.0.1,port=4000',
    'unixexec:path=/bin/sh,argv1=-c,argv2=id',
    'unix:path=relative/bus',
    'unix:path=/a,abstract=b',
    'unix:path=/a,path=/b',
    'unix:path=/a b',
    'unix:path=/a%00b',
    'unix:path=/a%ff',
    'unix:path=/a,guid=zz',
    `unix:path=/${'a'.repeat(107)}`,
    'unix:',
  ])('is nothing else: %s', (text) => {
    expect(parseAddresses(text)).toEqual([])
  })

  test('is nothing that goes on and on', () => {
    expect(parseAddresses(`unix:path=/a${';'.repeat(4_096)}`)).toEqual([])
  })

  test('is the one of systemd where none is named', () => {
    expect(busAddresses({ XDG_RUNTIME_DIR: '/run/user/7' })).toEqual([{ socket: '/run/user/7/bus', guid: null }])
    expect(busAddresses({ XDG_RUNTIME_DIR: 'here' })).toEqual([])
    expect(busAddresses({ DBUS_SESSION_BUS_ADDRESS: 'disabled:', XDG_RUNTIME_DIR: '/run/user/7' })).toEqual([])
  })

  test('whatever it holds, is a name that fits a socket or nothing', () => {
    const part = fc.constantFrom('unix:', 'path=', 'abstract=', '/', ';', ',', '=', '%', '%00', '%41', 'guid=', 'a')
    const isName = ({ socket }: { socket: string }): boolean =>
      /^(?:\/|\0[^\0])/.test(socket) && !socket.slice(1).includes('\0') && Buffer.byteLength(socket) <= 108
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string()), { maxLength: 20 }), (parts) => {
        expect(parseAddresses(`unix:path=/${parts.join('')}`).every(isName)).toBe(true)
      }),
    )
  })
})
