import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createSecret, isSecret } from '../../../src/main/platform/secret.ts'

const KEY = 'sk-test-0123456789abcdef'

test('a secret prints as [secret] wherever it is printed, nested as well', () => {
  const secret = createSecret(KEY)
  const holder = { key: secret, list: [secret] }
  const copy = { ...secret }
  const printed = [
    // eslint-disable-next-line typescript/no-base-to-string -- that is what is tested
    String(secret),
    JSON.stringify(holder),
    JSON.stringify(copy),
    inspect(holder, { depth: null, showHidden: true }),
    inspect(copy, { depth: null, showHidden: true }),
    Object.values(secret).map(String).join(),
  ].join('\n')
  expect(printed).not.toContain(KEY)
  expect(printed).toContain('[secret]')
  expect(JSON.stringify(holder)).toBe('{"key":"[secret]","list":["[secret]"]}')
})

test('a secret cannot be cloned into another thread', () => {
  expect(() => structuredClone(createSecret(KEY))).toThrow(/could not be cloned/)
})

test('reveal opens it, equals compares by value, sha256 is that of the text', () => {
  const secret = createSecret('abc')
  expect(secret.reveal('store')).toBe('abc')
  expect(secret.equals(createSecret('abc'))).toBe(true)
  expect(secret.equals(createSecret('abd'))).toBe(false)
  expect(secret.equals(createSecret('a much longer text'))).toBe(false)
  expect(secret.sha256()).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('isSecret knows the real thing from a look-alike', () => {
  expect([createSecret(KEY), { ...createSecret(KEY) }, '[secret]', null, undefined].map(isSecret)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})
