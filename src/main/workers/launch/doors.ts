import { isAbsolute, join } from 'node:path'

/**
 * Sockets of programs that start others, or hand out what they keep, for whoever of the same user reaches them: through one
 * of these a confined command would act outside. Not all of them are there on every machine.
 */
export function doorsOut(env: Readonly<Record<string, string | undefined>>, uid: number): readonly string[] {
  const runtime = env['XDG_RUNTIME_DIR'] ?? ''
  const inRuntime = ['bus', 'systemd', 'docker.sock', 'podman', 'containerd', 'tmux'].map((name) => join(runtime, name))
  const named = /(?:^|;)unix:path=([^,;]+)/.exec(env['DBUS_SESSION_BUS_ADDRESS'] ?? '')?.[1]
  return [
    ...(isAbsolute(runtime) ? inRuntime : []),
    ...(named === undefined ? [] : [named]),
    ...['docker.sock', 'containerd', 'podman', 'dbus/system_bus_socket'].map((name) => `/run/${name}`),
    ...['tmux', 'screens'].map((name) => `/tmp/${name}-${uid}`),
    '/run/screen',
  ]
}
