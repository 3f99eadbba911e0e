import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { findLocalPresets } from '../../../src/main/providers/local-presets.ts'
import { createUpstream } from '../../../src/main/providers/upstream/index.ts'
import { createFakeUpstream } from './support.ts'

test('a program that serves models here is found by its list; one that is away, or is another program, is not', async () => {
  await using running = await createFakeUpstream()
  await using other = await createFakeUpstream()
  other.answer((_request, response) => response.writeHead(404).end('<html>'))
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const address = closed.address()
  const away = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
  await new Promise((resolve) => closed.close(resolve))
  const upstream = createUpstream()
  try {
    const found = async (ollama: string, lmstudio: string) =>
      await findLocalPresets(upstream, new AbortController().signal, [
        { id: 'ollama', address: ollama },
        { id: 'lmstudio', address: lmstudio },
      ])
    expect(await found(`${running.url}/v1`, away)).toEqual(['ollama'])
    expect(await found(`${other.url}/v1`, `${running.url}/v1`)).toEqual(['lmstudio'])
    expect(await found(away, away)).toEqual([])
    expect(running.requests.map(({ url, authorization }) => [url, authorization])).toEqual([
      ['/v1/models', ''],
      ['/v1/models', ''],
    ])
  } finally {
    await upstream.close()
  }
})
