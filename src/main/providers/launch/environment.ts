/** What every routed agent's environment has in common. */

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'] as const

/** Both spellings, the existing entries first: no proxy may stand between an agent and the Router. */
export function noProxy(inherited: Readonly<Record<string, string>>): Record<'NO_PROXY' | 'no_proxy', string> {
  const existing = [inherited['NO_PROXY'], inherited['no_proxy']].flatMap((list) => list?.split(',') ?? [])
  const names = [...existing.map((name) => name.trim()).filter((name) => name !== ''), ...LOOPBACK]
  const joined = [...new Set(names)].join(',')
  return { NO_PROXY: joined, no_proxy: joined }
}

/** In place of a key where an agent insists on one: says to whoever finds it that it is none. */
export const PLACEHOLDER = 'wheelhouse-loopback-placeholder-not-a-secret'
