import type { Failpoints } from './types.ts'

/** A production build replaces it with `false`; then no environment brings failpoints back. Run from source it is absent. */
declare const __WHEELHOUSE_TEST_BUILD__: boolean | undefined

type Environment = Readonly<Record<string, string | undefined>>

/** Whether fault tests may end this process at a named place. */
export function isTestBuild(env: Environment): boolean {
  if (typeof __WHEELHOUSE_TEST_BUILD__ === 'boolean') return __WHEELHOUSE_TEST_BUILD__
  return env['WHEELHOUSE_TEST_BUILD'] === '1'
}

/**
 * Reads `WHEELHOUSE_FAILPOINT` (`<name>:kill` or `<name>:fail`, several with commas). Unless `enabled`, nothing is read
 * and every call does nothing.
 */
export function createFailpoints({ enabled, env }: { enabled: boolean; env: Environment }): Failpoints {
  if (!enabled) return { hit: () => undefined }
  const actions = parse(env['WHEELHOUSE_FAILPOINT'] ?? '')
  return {
    hit(name) {
      const action = actions.get(name)
      if (action === 'fail') throw new Error(`failpoint ${name}`)
      if (action === 'kill') endAtOnce()
    },
  }
}

function parse(text: string): ReadonlyMap<string, 'kill' | 'fail'> {
  const actions = new Map<string, 'kill' | 'fail'>()
  for (const part of text.split(',').filter((each) => each !== '')) {
    const [name = '', action] = part.split(':')
    if (name === '' || (action !== 'kill' && action !== 'fail')) {
      throw new Error(`WHEELHOUSE_FAILPOINT: "${part}" is not <name>:kill or <name>:fail`)
    }
    actions.set(name, action)
  }
  return actions
}

/** As the power would: no handler runs, nothing is flushed. */
function endAtOnce(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal is delivered before long; not one more step may be taken until then.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}
