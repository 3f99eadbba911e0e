import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { codexCatalog } from '../../src/main/providers/contracts/codex-catalog.ts'
import { parseCodexModels } from '../../src/main/providers/contracts/codex-models.ts'
import { createTempDir } from '../support/dir.ts'
import { AGENT_PATH, describeWithAgent } from './installed.ts'

const run = promisify(execFile)

async function codex(home: string, ...args: string[]): Promise<unknown> {
  const env = { PATH: AGENT_PATH, HOME: home, CODEX_HOME: home }
  const { stdout } = await run('codex', args, { env, maxBuffer: 64 * 1024 * 1024, timeout: 30_000 })
  return JSON.parse(stdout)
}

describeWithAgent('codex', 'the model catalog with the real Codex', () => {
  test('PR-A26 the installed Codex takes a catalog of a known and an unknown model', async () => {
    using dir = createTempDir()
    const known = parseCodexModels(await codex(dir.path, 'debug', 'models', '--bundled'))
    const first = known.find((model) => model.baseInstructions !== null)
    expect(first).toBeDefined()
    const text = codexCatalog(
      ['my/unknown:free', first?.slug ?? ''],
      new Map(known.map((model) => [model.slug, model])),
    )
    const path = dir.at('catalog.json')
    writeFileSync(path, text ?? '')
    const listed = await codex(dir.path, '-c', `model_catalog_json=${JSON.stringify(path)}`, 'debug', 'models')
    const models = parseCodexModels(listed)
    expect(models.map((model) => model.slug)).toEqual(['my/unknown:free', first?.slug])
    expect(models[0]).toMatchObject({ baseInstructions: expect.any(String), contextWindow: null })
  })
})
