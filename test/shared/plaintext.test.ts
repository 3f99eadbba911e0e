import { expect, test } from 'vitest'
import { isPlaintextAcrossNetwork } from '../../src/shared/plaintext.ts'

test.each([
  ['http://models.example.com/v1', true],
  [' HTTP://models.example.com ', true],
  ['http://8.8.8.8/v1', true],
  ['http://172.32.0.1/v1', true],
  ['http://localhost.example.com/v1', true],
  ['https://models.example.com/v1', false],
  ['http://localhost:11434/v1', false],
  ['http://models.localhost/v1', false],
  ['http://127.0.0.1:9000/v1', false],
  ['http://[::1]:9000/v1', false],
  ['http://192.168.1.20:8080/v1', false],
  ['http://172.16.0.1/v1', false],
  ['http://100.64.0.1/v1', false],
  ['http://[fd00::1]/v1', false],
  ['http://', false],
  ['', false],
])('%s crosses a foreign network in the open: %s', (address, crosses) => {
  expect(isPlaintextAcrossNetwork(address)).toBe(crosses)
})
