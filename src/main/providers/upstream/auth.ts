/** The header writer: the one place where a Provider's key is opened for the wire. */
import { AppError } from '../../../shared/errors.ts'
import type { UpstreamAuth } from './types.ts'

/** @throws AppError `model_profile_credential_not_ready`: the connection needs a key and has none. */
export function authHeaders(auth: UpstreamAuth): Record<string, string> {
  if (auth.mode === 'none') return {}
  if (auth.key === null) {
    throw new AppError('model_profile_credential_not_ready', 'This Provider has no API key yet. Add one in Providers.')
  }
  const key = auth.key.reveal('upstream_header')
  return auth.mode === 'bearer' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }
}
