import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { codexCatalog } from '../../../src/main/providers/contracts/codex-catalog.ts'
import { parseCodexModels } from '../../../src/main/providers/contracts/codex-models.ts'
import type { CodexModel } from '../../../src/main/providers/contracts/codex-models.ts'
import { bind, codexInput, create, createWorld, customInput, launch } from './support.ts'

const CACHE = {
  models: [
    {
      slug: 'gpt-known',
      display_name: 'GPT Known',
      base_instructions: 'You are a coding agent.',
      supported_reasoning_levels: [
        { effort: 'low', description: 'x' },
        { effort: 'ultra', description: 'x' },
        { effort: 'none' },
      ],
      default_reasoning_level: 'low',
      context_window: 272_000,
      apply_patch_tool_type: 'freeform',
      visibility: 'list',
    },
    { display_name: 'without a slug' },
  ],
}

function known(models: readonly CodexModel[]): ReadonlyMap<string, CodexModel> {
  return new Map(models.map((model) => [model.slug, model]))
}

test('PR-A26 an unknown model gets the words of the installed Codex and no invented window', () => {
  const text = codexCatalog(['gpt-known', 'my/model:free', 'my/model:free'], known(parseCodexModels(CACHE)))
  const { models }: { models: Record<string, unknown>[] } = JSON.parse(text ?? '{}')
  expect(models.map((model) => [model['slug'], model['priority']])).toEqual([
    ['gpt-known', 0],
    ['my/model:free', 1],
  ])
  expect(models[0]).toMatchObject({ context_window: 272_000, apply_patch_tool_type: 'freeform' })
  expect(models[0]?.['supported_reasoning_levels']).toEqual([
    { effort: 'low', description: expect.any(String) },
    { effort: 'none', description: expect.any(String) },
  ])
  expect(models[1]).toMatchObject({ base_instructions: 'You are a coding agent.', apply_patch_tool_type: null })
  expect(models[1]).not.toHaveProperty('context_window')
  expect(models[1]).not.toHaveProperty('default_reasoning_level')
})

test('PR-A80 hundreds of models with long words fit into what Codex reads, the bound one first', () => {
  const words = parseCodexModels({
    models: [{ ...CACHE.models[0], base_instructions: 'You are an agent. '.repeat(1_200) }],
  })
  const ids = ['the/bound-one', ...Array.from({ length: 400 }, (_, index) => `my/model-${index}`)]
  const text = codexCatalog(ids, known(words)) ?? ''
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2 * 1024 * 1024)
  const { models }: { models: { slug: string; priority: number }[] } = JSON.parse(text)
  expect(models.length).toBeGreaterThan(50)
  expect(models.map(({ slug }) => slug)).toEqual(ids.slice(0, models.length))
  expect(models.map(({ priority }) => priority)).toEqual(models.map((_, index) => index))
})

test('PR-A80 after the bound model come those that Codex knows, with what it knows of them', () => {
  const [model] = CACHE.models
  const more = {
    description: 'Known well',
    supports_reasoning_summaries: true,
    support_verbosity: true,
    default_verbosity: 'low',
    truncation_policy: { mode: 'tokens', limit: 9_000 },
  }
  const models = [
    { ...model, ...more },
    { ...model, slug: 'gpt-later', truncation_policy: 'a form of later', default_verbosity: 'endless' },
  ]
  const text = codexCatalog(['my/bound', 'my/other', 'gpt-later', 'gpt-known'], known(parseCodexModels({ models })))
  const entries: Record<string, unknown>[] = JSON.parse(text ?? '{}').models
  expect(entries.map(({ slug }) => slug)).toEqual(['my/bound', 'gpt-later', 'gpt-known', 'my/other'])
  expect(entries[2]).toMatchObject(more)
  expect(entries[1]).toMatchObject({ truncation_policy: { mode: 'bytes', limit: 10_000 }, default_verbosity: null })
})

test('PR-A26 without the words of any Codex there is no entry, no file and no flag', async () => {
  expect(codexCatalog(['my/model'], new Map())).toBeNull()
  await using world = await createWorld()
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', 'https://api.example.com/v1'))
  const plan = await bind(host, launch(id))
  expect(plan.argv.join(' ')).not.toContain('model_catalog_json')
})

test('PR-A26 a Codex that was never run is asked for its words once, and its own cache wins over them', async () => {
  let asked = 0
  const bundledCodexModels = async (): Promise<unknown> => {
    asked += 1
    return CACHE
  }
  await using world = await createWorld({ bundledCodexModels })
  const host = await world.open()
  const { id } = await create(host.providers, customInput('a', 'https://api.example.com/v1'))
  for (const workerId of ['worker-1', 'worker-2']) {
    const plan = await bind(host, launch(id, { workerId, sessionId: workerId }))
    expect(plan.argv.join(' ')).toContain('model_catalog_json')
  }
  expect(asked).toBe(1)
  // The next start has not asked it yet, and calls no route changed for that.
  await host.stop()
  expect((await world.open()).providers.notices()).toEqual([])
})

test('PR-A26 a plan points at the file of its connection, except at OpenAI, whose models Codex knows itself', async () => {
  await using world = await createWorld()
  mkdirSync(world.dir.at('codex-home'))
  writeFileSync(world.dir.at('codex-home', 'models_cache.json'), JSON.stringify(CACHE))
  const host = await world.open()
  const custom = await create(host.providers, customInput('a', 'https://api.example.com/v1'))
  const plan = await bind(host, launch(custom.id))
  const path = world.dir.at('providers', 'codex-catalogs', `${custom.id}.json`)
  expect(plan.argv).toContain(`model_catalog_json=${JSON.stringify(path)}`)
  const written: { models: { slug: string }[] } = JSON.parse(readFileSync(path, 'utf8'))
  expect(written.models.map((model) => model.slug)).toEqual(['gpt-test'])
  const openai = await create(host.providers, codexInput('b'))
  const other = await bind(host, launch(openai.id, { workerId: 'worker-2', sessionId: 'session-2' }))
  expect(other.argv.join(' ')).not.toContain('model_catalog_json')
})

test('a cache in a form that we do not know is no evidence', () => {
  expect(parseCodexModels({ models: 'none' })).toEqual([])
  expect(parseCodexModels(null)).toEqual([])
})
