/** Runs inside a session with a Secret Service: `<library> <step>…`, prints one line of JSON per step. */
import { AppError } from '../../../../src/shared/errors.ts'
import { createIds, createSecret, createSystemClock } from '../../../../src/main/platform/index.ts'
import { loadKeychain } from '../../../../src/main/providers/credentials/keychain-libraries.ts'
import { createKeychainStore } from '../../../../src/main/providers/credentials/keychain-store.ts'

const [, , name, ...steps] = process.argv
const library = loadKeychain(name === 'keytar' ? 'keytar' : 'napi_keyring')
if (library === null) throw new Error(`${name} does not load`)
const clock = createSystemClock()
const store = createKeychainStore({ library, clock, ids: createIds() })

async function run(step: string): Promise<unknown> {
  const [verb, ref = '', text = ''] = step.split('=')
  switch (verb) {
    case 'available':
      return await store.available()
    case 'set':
      return await store.set(ref, createSecret(text))
    case 'get':
      return (await store.get(ref))?.reveal('store') ?? null
    case 'delete':
      return await store.delete(ref)
    case 'refs':
      return await store.refs()
    default:
      throw new Error(`no such step: ${step}`)
  }
}

for (const step of steps) {
  try {
    process.stdout.write(`${JSON.stringify(await run(step))}\n`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    process.stdout.write(`${JSON.stringify({ code: error.code })}\n`)
  }
}
