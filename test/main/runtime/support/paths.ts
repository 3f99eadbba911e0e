import type { DurableFile, Paths } from '../../../../src/main/platform/types.ts'

export function pathsIn(dir: string): Paths {
  const at = (name: string): string => `${dir}/data/${name}`
  return {
    dataDir: `${dir}/data`,
    database: at('wheelhouse.db'),
    settings: at('settings.json'),
    logDir: at('log'),
    backups: at('backups'),
    blobs: at('blobs'),
    workers: at('workers'),
    providers: at('providers'),
    hostSocket: at('host.sock'),
  }
}

export function memoryFiles(): DurableFile {
  const files = new Map<string, Uint8Array>()
  return {
    read: async (path) => files.get(path) ?? null,
    async write(path, content) {
      files.set(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
      return { applied: true, durable: true }
    },
    async remove(path) {
      files.delete(path)
      return { applied: true, durable: true }
    },
  }
}
