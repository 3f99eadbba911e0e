/** The one model, in a list that clients of either protocol understand. */
export const REHEARSAL_MODEL = 'rehearsal-1'

const CREATED_AT_S = 1_767_225_600

export function modelList(): object {
  const model = {
    id: REHEARSAL_MODEL,
    object: 'model',
    type: 'model',
    display_name: 'Rehearsal',
    created: CREATED_AT_S,
    created_at: new Date(CREATED_AT_S * 1_000).toISOString(),
    owned_by: 'wheelhouse',
  }
  return { object: 'list', data: [model], has_more: false, first_id: REHEARSAL_MODEL, last_id: REHEARSAL_MODEL }
}
