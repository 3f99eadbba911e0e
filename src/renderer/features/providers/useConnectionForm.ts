import { useRef, useState } from 'react'
import type { RefObject } from 'react'
import type { CatalogView, ConnectionView } from '../../../shared/bridge/index.ts'
import { AppError } from '../../../shared/errors.ts'
import type { ClientId } from '../../../shared/vocabulary.ts'
import { useAsking, useBridge } from '../../bridge/index.ts'
import { emptyForm, fieldOf, formOf, inputOf, revisionOf, takesKey } from './form.ts'
import type { Agents, ConnectionForm, FormField } from './form.ts'
import { lacksDefault, makeDefault } from './make-default.ts'
import { freeFields } from './useCatalog.ts'

/** What a test is about: how it went, or how it goes. */
export interface Testing {
  pending: boolean
  seconds: number
  output: { modelCount: number; latencyMs: number } | null
  error: AppError | null
  cancel: () => void
}

export interface ConnectionFormState {
  values: ConnectionForm
  keyRef: RefObject<HTMLInputElement | null>
  takesKey: boolean
  save: { pending: boolean; error: AppError | null }
  test: Testing
  change: <F extends keyof ConnectionForm>(field: F, value: ConnectionForm[F]) => void
  /** The key was typed at: what was said of it counts no more. */
  keyChanged: () => void
  /** What the host said of this field, until the field changes. */
  errorOf: (field: FormField) => string | null
  /** Whether the error stands at a field that this form shows. */
  saidInField: (error: AppError | null) => boolean
  /** Whether a new one becomes its agent's default; null: that is not asked. */
  becomesDefault: boolean | null
  setBecomesDefault: (on: boolean) => void
  submit: () => void
  runTest: () => void
}

/**
 * The form of one connection. The key stays in its field until it is handed over; the field is emptied once the host has
 * it, and no state of the page ever holds it.
 */
export function useConnectionForm(
  {
    catalog,
    connection,
    client,
    agents,
  }: { catalog: CatalogView; connection: ConnectionView | null; client: ClientId | null; agents: Agents },
  on: { onSaved: (connectionId: string | null) => void; onNotDefault: (error: AppError) => void },
): ConnectionFormState {
  const bridge = useBridge()
  const [values, setValues] = useState(() =>
    connection === null ? emptyForm(catalog, client, agents) : formOf(connection),
  )
  // What the person saw when they began: a save on top of somebody else's is refused once, and said.
  const [revision, setRevision] = useState(catalog.revision)
  const [touched, setTouched] = useState<ReadonlySet<FormField>>(new Set())
  const [wantsDefault, setWantsDefault] = useState(true)
  const asksForDefault = connection === null && values.preset !== 'rehearsal' && lacksDefault(catalog, values.client)
  const keyRef = useRef<HTMLInputElement>(null)
  const save = useAsking('providers.upsert')
  const testForm = useAsking('providers.test')
  const testSaved = useAsking('providers.testSaved')
  const [tested, setTested] = useState<'form' | 'saved'>('form')
  const test = tested === 'form' ? testForm : testSaved

  const touch = (field: FormField): void => setTouched((before) => new Set(before).add(field))

  const keyInput = (): { key?: string } => {
    const key = keyRef.current?.value.trim() ?? ''
    return key === '' || !takesKey(catalog, values) ? {} : { key }
  }

  const submitNow = async (): Promise<void> => {
    if (save.pending) return
    setTouched(new Set())
    const input = inputOf(catalog, values, connection?.id ?? null)
    const { key } = keyInput()
    const asksAnew = connection === null || key !== undefined || !sameAs(values, connection)
    const saved = await save.ask({
      connection: input,
      ...(key === undefined ? {} : { key }),
      expectedRevision: revision,
    })
    if (saved === null) return
    if (asksAnew && saved.connectionId !== null) {
      const { connectionId } = saved
      // No session can choose a Provider whose models nobody asked for. Where it does not answer, its row says so.
      const asked = bridge.call('providers.discover', { id: connectionId })
      if (asksForDefault && wantsDefault)
        makeDefault(bridge, { client: input.client, connectionId, named: input.manualModelId }, asked).catch(
          (thrown: unknown) =>
            on.onNotDefault(thrown instanceof AppError ? thrown : new AppError('internal', 'The call failed.')),
        )
      else asked.catch(() => undefined)
    }
    if (keyRef.current !== null) keyRef.current.value = ''
    on.onSaved(saved.connectionId)
  }

  const runTestNow = async (): Promise<void> => {
    setTouched(new Set())
    save.reset()
    const input = inputOf(catalog, values, connection?.id ?? null)
    const { key } = keyInput()
    if (connection !== null && key === undefined && sameAs(values, connection)) {
      setTested('saved')
      await testSaved.ask({ id: connection.id })
    } else {
      setTested('form')
      await testForm.ask({ connection: input, ...(key === undefined ? {} : { key }) })
    }
  }

  const conflict = save.error === null ? null : revisionOf(save.error)
  if (conflict !== null && conflict !== revision) setRevision(conflict)

  return {
    values,
    keyRef,
    takesKey: takesKey(catalog, values),
    save,
    test,
    change: (field, value) => {
      setValues((before) => ({ ...before, [field]: value }))
      touch(field)
    },
    keyChanged: () => touch('key'),
    errorOf: (field) => {
      const error = save.error ?? test.error
      return error !== null && fieldOf(error) === field && !touched.has(field) ? error.message : null
    },
    saidInField(error) {
      const field = error === null ? null : fieldOf(error)
      if (field === null) return false
      if (field === 'key') return takesKey(catalog, values)
      return ALWAYS_SHOWN.has(field) || freeFields(catalog, values.preset, values.client).has(field)
    },
    becomesDefault: asksForDefault ? wantsDefault : null,
    setBecomesDefault: setWantsDefault,
    submit: () => void submitNow(),
    runTest: () => void runTestNow(),
  }
}

const ALWAYS_SHOWN: ReadonlySet<FormField> = new Set<FormField>(['preset', 'client', 'name'])

/** Nothing of what decides where a request goes was changed. */
function sameAs(values: ConnectionForm, connection: ConnectionView): boolean {
  const before = formOf(connection)
  return (
    values.preset === before.preset &&
    values.baseUrl === before.baseUrl &&
    values.authMode === before.authMode &&
    values.protocol === before.protocol &&
    values.credentialEnv === before.credentialEnv
  )
}
