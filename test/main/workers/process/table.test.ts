import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { createLinuxSource, parseStat } from '../../../../src/main/workers/process/linux.ts'
import { releaseProcess } from '../../../../src/main/workers/process/release.ts'
import { createProcessTable, createUnsupportedTable } from '../../../../src/main/workers/process/table.ts'
import type { Kill } from '../../../../src/main/workers/process/table.ts'
import type { ProcessIdentity, ProcessTable, ReleaseOutcome } from '../../../../src/main/workers/types.ts'
import { clock, isAlive, until } from '../harness.ts'

const table = createProcessTable({ source: createLinuxSource(clock), clock })
const QUICK = { closeStdinMs: 0, termGraceMs: 300, confirmMs: 2_000 }
let names = 0

interface Tree extends AsyncDisposable {
  leader: ProcessIdentity
  child: ChildProcess
  workerId: string
  /** What the script printed: one pid a line. */
  pids: number[]
}

/** A shell script as the leader of its own group and session. It prints the pids it starts, then `ready`. */
async function tree(script: string, marked = true): Promise<Tree> {
  names += 1
  const workerId = `tree-${process.pid}-${names}`
  const child = spawn('/bin/sh', ['-c', script], {
    detached: true,
    env: { PATH: '/usr/bin:/bin', ...(marked ? { WHEELHOUSE_WORKER: workerId } : {}) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  await until('the tree stands', () => out.includes('ready'))
  const leader = await table.lookup(child.pid ?? 0)
  if (leader === null) throw new Error('the leader is gone')
  const pids = out
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)
  return {
    leader,
    child,
    workerId,
    pids,
    async [Symbol.asyncDispose]() {
      // Whoever is left, by group and by mark: a case may have ended the leader alone, or nobody.
      await until('nothing is left', async () => {
        const marked = (await table.marked(workerId)) ?? []
        for (const pid of [-leader.pid, ...pids, ...marked.map((each) => each.pid)]) kill(pid)
        return marked.length === 0 && !(await isAlive(table, leader.pid))
      })
    },
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone already.
  }
}

function reap(t: Tree, recorded: ProcessIdentity = t.leader, by: ProcessTable = table): Promise<ReleaseOutcome> {
  return releaseProcess({ table: by, clock, workerId: t.workerId, process: recorded, options: QUICK })
}

const SLEEP = 'sleep 300'

describe('who a process is', () => {
  test('WK-27 a pid that someone else has now is gone, and left alone', async () => {
    await using t = await tree(`echo ready; ${SLEEP}`, false)
    const reused = { ...t.leader, startToken: '1' }
    expect(await table.owns(reused)).toEqual({ owns: false })
    expect(await table.signal(reused, 'SIGKILL')).toBe('nothing')
    expect(await reap(t, reused)).toMatchObject({ kind: 'gone' })
    expect(await isAlive(table, t.leader.pid)).toBe(true)
  })

  test('WK-27 an identity that is not exact is no ground for a signal', async () => {
    await using t = await tree(`echo ready; ${SLEEP}`, false)
    const vague = { ...t.leader, exact: false }
    expect(await table.owns(vague)).toEqual({ owns: null, reason: 'identity_unknown' })
    expect(await reap(t, vague)).toMatchObject({ kind: 'held', reason: 'identity_unknown' })
    expect(await isAlive(table, t.leader.pid)).toBe(true)
  })

  test('WK-27 of another boot, nothing is left', async () => {
    await using t = await tree(`echo ready; ${SLEEP}`, false)
    expect(await reap(t, { ...t.leader, bootId: 'another' })).toMatchObject({ kind: 'gone', strongest: 'none' })
    expect(await isAlive(table, t.leader.pid)).toBe(true)
  })

  test('WK-28 a pid that nobody has is gone; init and our own group are never signalled', async () => {
    const self = await table.lookup(process.pid)
    if (self === null) throw new Error('we are gone')
    const nobody = { ...self, pid: 1_073_741_824, pgid: 1_073_741_824 }
    expect(await table.confirmGone(nobody, 0)).toMatchObject({ kind: 'gone' })
    for (const pgid of [0, 1, self.pgid]) {
      expect(await table.signal({ ...nobody, pgid }, 'SIGTERM')).toBe('refused')
    }
    expect(await table.signalOne(self, 'SIGTERM')).toBe('refused')
  })

  test('WK-29 members that outlived their leader are ended by their group', async () => {
    await using t = await tree(`${SLEEP} & echo $!; echo ready; wait`)
    const [member = 0] = t.pids
    process.kill(t.leader.pid, 'SIGKILL')
    await until('the leader is gone', async () => !(await isAlive(table, t.leader.pid)))
    expect(await table.owns(t.leader)).toEqual({ owns: null, reason: 'group_outlived_leader' })
    expect(await reap(t)).toMatchObject({ kind: 'gone' })
    expect(await isAlive(table, member)).toBe(false)
  })

  test('WK-29 where the group may not be asked, nothing is proven', async () => {
    await using t = await tree(`echo ready; ${SLEEP}`)
    const denied: Kill = (pid, signal) => {
      if (signal === 0) throw Object.assign(new Error('denied'), { code: 'EPERM' })
      process.kill(pid, signal)
    }
    const careful = createProcessTable({ source: createLinuxSource(clock), clock, kill: denied })
    await until('it is gone', async () => {
      const outcome = await reap(t, t.leader, careful)
      return outcome.kind === 'held' && !(await isAlive(table, t.leader.pid))
    })
    expect(await table.confirmGone(t.leader, 0)).toMatchObject({ kind: 'gone' })
  })

  test('WK-30 a group of zombies is gone', async () => {
    // The parent is stopped, so that nobody collects the group that it started.
    await using t = await tree(`setsid sh -c 'exit 0' & echo $!; echo ready; kill -STOP $$; wait`, false)
    const [zombie = 0] = t.pids
    await until('it is a zombie', async () => (await table.lookup(zombie)) === null)
    const known = await table.lookup(zombie, { zombies: true })
    expect(known).not.toBeNull()
    expect(await table.confirmGone({ ...t.leader, ...known }, 0)).toMatchObject({ kind: 'gone' })
  })

  test('WK-30 a command name with brackets and blanks does not shift the fields', () => {
    const rest = 'S 5 6 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 98765 1 2 3'
    expect(parseStat(4, `4 (a) R 1 (b) ${rest}`)).toEqual({
      pid: 4,
      ppid: 5,
      pgid: 6,
      sid: 7,
      zombie: false,
      startToken: '98765',
    })
    expect(parseStat(4, '4 (cut')).toBeNull()
  })
})

describe('what belongs to a worker', () => {
  test('WK-31 a member of the session in a group of its own goes too', async () => {
    // A shell with job control gives each job a group of its own, in the same session.
    await using t = await tree(
      `bash -c 'set -m; (trap "" TERM; while :; do sleep 300; done) & echo $!; echo ready; wait'`,
    )
    const members = (await table.members(t.leader)) ?? []
    expect(members.some((member) => member.pgid !== t.leader.pgid)).toBe(true)
    expect(await reap(t)).toEqual({ kind: 'gone', strongest: 'kill', strays: [] })
    for (const { pid } of members) expect(await isAlive(table, pid)).toBe(false)
  })

  const DEAF = `setsid sh -c 'trap "" TERM HUP; echo $$; echo ready; while :; do sleep 300; done' & wait`

  test('WK-65 a deaf shell in a session of its own is ended with the worker', async () => {
    await using t = await tree(DEAF)
    const [shell = 0] = t.pids
    expect(await table.family(t.leader, t.workerId)).toMatchObject([{ pid: shell }, {}])
    expect(await reap(t)).toMatchObject({ kind: 'gone' })
    expect(await isAlive(table, shell)).toBe(false)
  })

  test('WK-65 it is found by its mark once its leader was killed', async () => {
    await using t = await tree(DEAF)
    const [shell = 0] = t.pids
    process.kill(t.leader.pid, 'SIGKILL')
    await until('the leader is gone', async () => !(await isAlive(table, t.leader.pid)))
    expect(await reap(t)).toMatchObject({ kind: 'gone', strongest: 'kill' })
    expect(await isAlive(table, shell)).toBe(false)
  })

  test("WK-65 another worker's process lives on", async () => {
    await using t = await tree(DEAF)
    await using other = await tree(`echo ready; ${SLEEP}`)
    await reap(t)
    expect(await isAlive(table, other.leader.pid)).toBe(true)
  })

  test('WK-65 who survives SIGKILL is a stray, and the release is held', async () => {
    await using t = await tree(DEAF)
    const [shell = 0] = t.pids
    const spared: Kill = (pid, signal) => {
      if (pid !== shell) process.kill(pid, signal)
    }
    const stubbed = createProcessTable({ source: createLinuxSource(clock), clock, kill: spared })
    const outcome = await reap(t, t.leader, stubbed)
    expect(outcome).toMatchObject({ kind: 'held', reason: 'group_outlived_leader' })
    expect(outcome.strays.map(({ pid }) => pid)).toContain(shell)
  })

  test('WK-65 a parent of the host is never ours, whatever mark it has', async () => {
    const sparing = createProcessTable({ source: createLinuxSource(clock), clock, hostPid: process.pid })
    await using t = await tree(`echo ready; ${SLEEP}`)
    const asHost = createProcessTable({ source: createLinuxSource(clock), clock, hostPid: t.leader.pid })
    expect(await asHost.marked(t.workerId)).not.toContainEqual(expect.objectContaining({ pid: t.leader.pid }))
    expect(await sparing.marked(t.workerId)).toContainEqual(expect.objectContaining({ pid: t.leader.pid }))
  })

  test('WK-34 where processes cannot be identified, nothing is signalled', async () => {
    const none = createUnsupportedTable()
    await using t = await tree(`echo ready; ${SLEEP}`)
    expect(await none.signal(t.leader, 'SIGKILL')).toBe('refused')
    expect(await reap(t, t.leader, none)).toMatchObject({ kind: 'held', reason: 'platform_unsupported' })
  })
})
