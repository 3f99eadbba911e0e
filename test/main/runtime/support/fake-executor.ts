import type {
  Execution,
  ExecutionEnd,
  ExecutionSink,
  ExecutionSpec,
  Executor,
  PermissionDecision,
  PermissionRequest,
} from '../../../../src/main/runtime/index.ts'

export interface FakeRun {
  spec: ExecutionSpec
  sink: ExecutionSink
  signal: AbortSignal
  answers: { requestId: string; decision: PermissionDecision }[]
  steered: string[]
  cancels: number
  kills: number
  end(end?: Partial<ExecutionEnd>): void
  text(text: string): void
  ask(request?: Partial<PermissionRequest>): void
}

export interface FakeExecutor extends Executor {
  readonly runs: FakeRun[]
  /** The newest run. */
  last(): FakeRun
}

export interface FakeExecutorOptions {
  /** Called at each start before it accepts; a throw fails the start. */
  onStart?: (run: FakeRun) => void | Promise<void>
  /** What the agent does when it is asked to stop. By default it ends as cancelled. */
  onCancel?: (run: FakeRun) => void
  onAnswer?: (run: FakeRun, requestId: string, decision: PermissionDecision) => void | Promise<void>
  onKill?: (run: FakeRun) => void
  quiesce?: () => 'absent' | 'stopped' | 'alive'
  steers?: 'taken' | 'refused'
}

/** Accepts each prompt at once and does what the test says. */
export function createFakeExecutor(options: FakeExecutorOptions = {}): FakeExecutor {
  const runs: FakeRun[] = []
  return {
    runs,
    last() {
      const run = runs.at(-1)
      if (run === undefined) throw new Error('nothing was started')
      return run
    },
    async start(spec, sink, signal) {
      let finish: (end: ExecutionEnd) => void = () => undefined
      const ended = new Promise<ExecutionEnd>((resolve) => {
        finish = resolve
      })
      const run: FakeRun = {
        spec,
        sink,
        signal,
        answers: [],
        steered: [],
        cancels: 0,
        kills: 0,
        end: (end = {}) => finish({ outcome: 'completed', ...end }),
        text: (text) => sink.push({ kind: 'output', messageId: 'm1', text }),
        ask: (request) => sink.push({ kind: 'permission', request: { ...permission(), ...request } }),
      }
      runs.push(run)
      await options.onStart?.(run)
      sink.push({ kind: 'accepted', workerId: `worker-${runs.length}`, agentSessionId: null })
      const { steers } = options
      const execution: Execution = {
        workerRef: `worker-${runs.length}`,
        ended,
        async answer(requestId, decision) {
          await options.onAnswer?.(run, requestId, decision)
          run.answers.push({ requestId, decision })
        },
        async cancel() {
          run.cancels++
          if (options.onCancel === undefined) run.end({ outcome: 'cancelled' })
          else options.onCancel(run)
        },
        async kill() {
          run.kills++
          options.onKill?.(run)
          return 'gone'
        },
        ...(steers === undefined
          ? {}
          : {
              async steer(text: string) {
                run.steered.push(text)
                return steers
              },
            }),
      }
      return execution
    },
    quiesce: async () => options.quiesce?.() ?? 'absent',
  }
}

/** What an agent asks before it removes a file. */
export function permission(): PermissionRequest {
  return {
    requestId: 'r1',
    toolCallId: 't1',
    tool: 'Bash',
    kind: 'execute',
    title: 'rm build/app.log',
    locations: [],
    action: { kind: 'command', command: 'rm build/app.log', cwd: '/tmp', wrapper: null },
    complete: true,
  }
}
