import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createHostControl } from '../../../src/main/platform/index.ts'
import { createTempDir } from '../../support/dir.ts'

const SCRIPT = fileURLToPath(new URL('join-script.ts', import.meta.url))

test('a host that does not listen yet, or no more, is waited for, and then said to be out of reach', async () => {
  using dir = createTempDir()
  const control = createHostControl()
  const role = await control.acquire(dir.at('data'))
  if (role.kind !== 'host') throw new Error('the folder is new')
  const child = spawn(process.execPath, [SCRIPT, dir.at('data')], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  await sleep(300)
  const listening = await control.listen(dir.at('data'), (connection) => connection.close())
  const [code] = await closed
  await listening[Symbol.asyncDispose]()
  await role.release()
  expect([code, printed.trim()]).toEqual([0, 'trying\nhost_unreachable'])
})
