import { describe, expect, test } from 'vitest'
import { checkBaseUrl, judgeAddress, judgeHost, judgeResolved } from '../../../../src/main/providers/upstream/index.ts'

const NO_PORTS: ReadonlySet<number> = new Set()

function codeOf(baseUrl: string, ownPorts = NO_PORTS): unknown {
  try {
    return checkBaseUrl(baseUrl, ownPorts).href
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('addresses', () => {
  test.each([
    ['169.254.0.1', 'link_local'],
    ['169.254.169.254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fe80::1', 'link_local'],
    ['fe80::1%eth0', 'link_local'],
    ['febf::1', 'link_local'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['64:ff9b::169.254.1.1', 'link_local'],
    ['64:ff9b::e000:1', 'multicast'],
    ['2002:a9fe:a9fe::1', 'metadata'],
    ['2002:0000:0001::', 'unspecified'],
    ['::a9fe:a9fe', 'metadata'],
    ['::169.254.1.1', 'link_local'],
    ['::2', 'unspecified'],
    ['host', 'not_an_address'],
    ['', 'not_an_address'],
  ])('%s is blocked: %s', (address, reason) => {
    expect(judgeAddress(address)).toEqual({ kind: 'blocked', reason })
  })

  test.each([
    ['10.0.0.5', false],
    ['172.16.0.1', false],
    ['192.168.1.1', false],
    ['100.64.0.1', false],
    ['fc00::1', false],
    ['fd12:3456::1', false],
    ['1.1.1.1', false],
    ['2606:4700::1111', false],
    ['64:ff9b::101:101', false],
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['2002:7f00:1::', true],
    ['::127.0.0.1', true],
  ])('%s is allowed, loopback %s', (address, loopback) => {
    expect(judgeAddress(address)).toEqual({ kind: 'allowed', loopback })
  })

  test('a name is loopback only when it says so', () => {
    for (const name of ['localhost', 'LOCALHOST.', 'a.localhost', '[::1]', '127.0.0.1']) {
      expect(judgeHost(name)).toEqual({ kind: 'allowed', loopback: true })
    }
    expect(judgeHost('localhost.example')).toEqual({ kind: 'allowed', loopback: false })
    expect(judgeHost('Metadata.Google.Internal.')).toEqual({ kind: 'blocked', reason: 'metadata' })
    expect(judgeResolved('a.example', '127.0.0.1')).toEqual({ kind: 'blocked', reason: 'implicit_loopback' })
    expect(judgeResolved('a.example', '::ffff:127.0.0.1')).toEqual({ kind: 'blocked', reason: 'implicit_loopback' })
    expect(judgeResolved('a.localhost', '127.0.0.1')).toEqual({ kind: 'allowed', loopback: true })
    expect(judgeResolved('a.example', '10.0.0.5')).toEqual({ kind: 'allowed', loopback: false })
  })
})

describe('base addresses', () => {
  test('PR-A04 user info, another scheme and a query are invalid; link-local and metadata are blocked', () => {
    for (const url of ['http://u:p@h/v1', 'ftp://h', 'https://h/v1?x=1', 'https://h/v1#x', 'https://h/?', 'h', '']) {
      expect(codeOf(url)).toBe('model_profile_invalid')
    }
    for (const url of ['http://169.254.169.254/', 'http://[::ffff:a9fe:a9fe]/', 'http://metadata.google.internal']) {
      expect(codeOf(url)).toBe('upstream_address_blocked')
    }
    expect(codeOf('http://2852039166/')).toBe('upstream_address_blocked')
  })

  test('PR-A05 any spelling of loopback is itself, but never a port of ours', () => {
    expect(codeOf('http://0x7f.1:9000/v1')).toBe('http://127.0.0.1:9000/v1')
    const own = new Set([9_000])
    for (const host of ['127.0.0.1', '0x7f.1', 'localhost', 'a.localhost', '[::1]', '[::ffff:127.0.0.1]']) {
      expect(codeOf(`http://${host}:9000/v1`, own)).toBe('model_profile_invalid')
    }
    expect(codeOf('http://10.0.0.1:9000/v1', own)).toBe('http://10.0.0.1:9000/v1')
  })
})
