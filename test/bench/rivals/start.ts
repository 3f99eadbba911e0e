/** Starts what is compared, each in a process of its own before the same Provider. */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Rival extends AsyncDisposable {
  readonly name: string
  readonly port: number
  /** Resident memory of the process and its children, in MB. */
  rssMb(): number
}

const here = import.meta.dirname

export function startUpstream(): Promise<Rival> {
  return startScript('direct', 'messages-upstream.ts', [])
}

export function startRouter(upstreamPort: number): Promise<Rival> {
  return startScript('Router', 'router.ts', [String(upstreamPort)])
}

export function startPipe(upstreamPort: number): Promise<Rival> {
  return startScript('bare pipe', 'pipe.ts', [String(upstreamPort)])
}

async function startScript(name: string, script: string, args: readonly string[]): Promise<Rival> {
  const child = spawn(process.execPath, [join(here, script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return rival(name, Number(line.toString()), child)
}

/** Null: there is no nginx on this machine's `PATH`. */
export async function startNginx(upstreamPort: number): Promise<Rival | null> {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
  } catch {
    return null
  }
  const dir = mkdtempSync(join(tmpdir(), 'wheelhouse-nginx-'))
  const port = await freePort()
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${dir}/${kind};`)
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; pid ${dir}/pid; error_log ${dir}/error.log; worker_processes 1; events { worker_connections 4096; }
http { access_log off; ${temp.join(' ')} client_max_body_size 64m; client_body_buffer_size 4m;
upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 512; }
server { listen 127.0.0.1:${port}; location / { proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }`,
  )
  const child = spawn('nginx', ['-p', dir, '-c', join(dir, 'nginx.conf')], { stdio: 'ignore' })
  return await whenUp(rival('nginx', port, child, dir))
}

/** Null: it is not installed; `npm ci --prefix test/bench/rivals` does that. */
export async function startClaudeCodeRouter(upstreamPort: number): Promise<Rival | null> {
  const cli = join(here, 'node_modules/@musistudio/claude-code-router/dist/cli.js')
  if (!existsSync(cli)) return null
  const home = mkdtempSync(join(tmpdir(), 'wheelhouse-ccr-'))
  const port = await freePort()
  mkdirSync(join(home, '.claude-code-router'))
  const provider = {
    name: 'bench',
    api_base_url: `http://127.0.0.1:${upstreamPort}/v1/messages`,
    api_key: 'none',
    models: ['model-a'],
    transformer: { use: ['Anthropic'] },
  }
  writeFileSync(
    join(home, '.claude-code-router/config.json'),
    JSON.stringify({
      PORT: port,
      HOST: '127.0.0.1',
      LOG: false,
      NON_INTERACTIVE_MODE: true,
      Providers: [provider],
      Router: { default: 'bench,model-a' },
    }),
  )
  const child = spawn(process.execPath, [cli, 'start'], {
    stdio: 'ignore',
    env: { ...process.env, HOME: home, SERVICE_PORT: String(port) },
  })
  return await whenUp(rival('claude-code-router', port, child, home))
}

function rival(name: string, port: number, child: ChildProcess, folder?: string): Rival {
  return {
    name,
    port,
    rssMb: () => familyOf(child.pid ?? 0).reduce((sum, pid) => sum + rssOf(pid), 0),
    async [Symbol.asyncDispose]() {
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
      child.kill('SIGTERM')
      const late = AbortSignal.timeout(3_000)
      late.addEventListener('abort', () => child.kill('SIGKILL'))
      await gone
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function whenUp(started: Rival): Promise<Rival> {
  for (let attempt = 0; attempt < 150; attempt++) {
    const up = await fetch(`http://127.0.0.1:${started.port}/`).then(
      (answer) => answer.body?.cancel().then(() => true) ?? true,
      () => false,
    )
    if (up) return started
    await sleep(200)
  }
  await started[Symbol.asyncDispose]()
  throw new Error(`${started.name} does not answer`)
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function familyOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return [
      pid,
      ...children
        .split(' ')
        .filter(Boolean)
        .flatMap((child) => familyOf(Number(child))),
    ]
  } catch {
    return [pid]
  }
}

function rssOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0') / 1_024
  } catch {
    return 0
  }
}
