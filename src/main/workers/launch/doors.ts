import { isAbsolute, join } from 'node:path'

/**
 * Sockets of programs that start others, or hand out what they keep, for whoever of the same user reaches them: through one
 * of these a confined command would act outside. Not all of them are there on every machine.
 */
export function doorsOut(env: Readonly<Record<string, string | undefined>>, uid: number): readonly string[] {
  // A host that was started without a login's environment still lies beside what a login started.
  const runtimes = new Set([env['XDG_RUNTIME_DIR'] ?? '', `/run/user/${uid}`])
  const inRuntime = ['bus', 'systemd', 'docker.sock', 'podman', 'containerd', 'tmux', 'zellij']
  const named = /(?:^|;)unix:path=([^,;]+)/.exec(env['DBUS_SESSION_BUS_ADDRESS'] ?? '')?.[1]
  const temps = new Set(['/tmp', env['TMPDIR'] ?? '', env['TMUX_TMPDIR'] ?? ''])
  const all = [
    ...[...runtimes].flatMap((runtime) => inRuntime.map((name) => join(runtime, name))),
    ...(named === undefined ? [] : [named]),
    ...['docker.sock', 'containerd', 'podman', 'dbus/system_bus_socket'].map((name) => `/run/${name}`),
    ...[...temps].flatMap((temp) => ['tmux', 'screens', 'zellij'].map((name) => join(temp, `${name}-${uid}`))),
    '/run/screen',
  ]
  return all.filter((path) => isAbsolute(path))
}
