/** Keys in a private file, for machines without a keychain. Not encrypted; the interface says so. */
import { chmod, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../../shared/errors.ts'
import { createSecret } from '../../platform/index.ts'
import type { DurableFile, Log, PersistOutcome } from '../../platform/types.ts'
import { createMutex } from '../mutex.ts'
import type { CredentialStore } from './types.ts'

const MAX_BYTES = 1024 * 1024
const FileShape = z.strictObject({ version: z.literal(1), entries: z.record(z.string(), z.string()) })
type Entries = Record<string, string>

export function createFileStore(deps: { dir: string; files: DurableFile; log: Log }): CredentialStore {
  const path = join(deps.dir, 'secrets.json')
  const lock = createMutex()

  async function load(): Promise<Entries> {
    await narrow(path, 0o600)
    const bytes = await deps.files.read(path, { maxBytes: MAX_BYTES })
    if (bytes === null) return {}
    const parsed = FileShape.safeParse(readJson(bytes))
    if (parsed.success) return parsed.data.entries
    throw failed('It is not in the form that Wheelhouse writes. Move it away to start with no keys.', path)
  }

  async function narrow(target: string, mode: number): Promise<void> {
    if (process.platform === 'win32') return
    const found = await lstat(target).catch(() => null)
    if (found === null || found.isSymbolicLink() || found.uid !== process.getuid?.()) return
    if ((found.mode & 0o777 & ~mode) === 0) return
    await chmod(target, mode)
    deps.log.warn('narrowed the mode of a credential file', { path: target, from: (found.mode & 0o777).toString(8) })
  }

  async function ensureDir(): Promise<void> {
    await mkdir(deps.dir, { recursive: true, mode: 0o700 })
    const found = await lstat(deps.dir)
    const foreign = process.getuid !== undefined && found.uid !== process.getuid()
    if (found.isSymbolicLink() || !found.isDirectory() || foreign) {
      throw failed('Its folder is a link or belongs to somebody else.', deps.dir)
    }
    await narrow(deps.dir, 0o700)
  }

  async function change(edit: (entries: Entries) => Entries | null): Promise<PersistOutcome> {
    return await lock.run(async () => {
      await ensureDir()
      const next = edit(await load())
      if (next === null) return { applied: true, durable: true }
      const text = `${JSON.stringify({ version: 1, entries: next })}\n`
      // Larger than what is read again: every key in it would be lost.
      if (Buffer.byteLength(text) > MAX_BYTES) throw failed('It holds as much as it can.', path)
      return await deps.files.write(path, text)
    })
  }

  return {
    backend: 'file',
    async available() {
      try {
        await ensureDir()
        await load()
        return true
      } catch (error) {
        deps.log.warn('the credential file cannot be used', { error })
        return false
      }
    },
    set: (ref, secret) => guard(() => change((entries) => ({ ...entries, [ref]: secret.reveal('store') }))),
    get: (ref) =>
      guard(async () => {
        const entries = await load()
        const text = Object.hasOwn(entries, ref) ? entries[ref] : undefined
        return text === undefined ? null : createSecret(text)
      }),
    delete: (ref) =>
      guard(() =>
        change((entries) => {
          if (!Object.hasOwn(entries, ref)) return null
          const { [ref]: _gone, ...rest } = entries
          return rest
        }),
      ),
    refs: () => guard(async () => Object.keys(await load()).sort()),
  }
}

function readJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return null
  }
}

async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError && error.code === 'credential_store_failed') throw error
    throw new AppError('credential_store_failed', 'The file that holds the keys could not be used.', {
      detail: error instanceof AppError ? `${error.message} ${error.detail ?? ''}`.trim() : 'unexpected failure',
      cause: error,
    })
  }
}

function failed(why: string, path: string): AppError {
  return new AppError('credential_store_failed', `The file that holds the keys could not be used. ${why}`, {
    detail: path,
  })
}
