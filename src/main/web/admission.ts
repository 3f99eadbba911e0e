import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../shared/errors.ts'
import type { Clock, Ids } from '../platform/types.ts'

/** A browser that was let in comes back with its cookie this long, across restarts of the host. */
export const COOKIE_MS = 12 * 3_600_000
const MAX_WRONG_TOKENS = 10
const LOCK_MS = 60_000

export interface WebAdmission {
  /** A fresh one-time token: 256 bits, dead once exchanged. */
  issue(): string
  /**
   * Answers the `Set-Cookie` value.
   * @throws AppError `unauthenticated` (wrong or used), `exchange_locked` (ten wrong ones lock it for 60 s).
   */
  exchange(token: string): string
  /** Whether this `Cookie` header holds a cookie of ours that still counts. */
  admits(cookieHeader: string | undefined): boolean
}

/** `key`: 32 bytes of this installation, so that another host's cookie means nothing here. */
export function createWebAdmission(deps: {
  clock: Clock
  ids: Ids
  key: Uint8Array
  installation: string
}): WebAdmission {
  const { clock, ids, key, installation } = deps
  const name = `wheelhouse-${createHash('sha256').update(installation).digest('hex').slice(0, 12)}`
  const open = new Set<string>()
  let wrong = 0
  let lockedUntilMs = 0

  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest()

  return {
    issue() {
      const token = Buffer.from(ids.bytes(32)).toString('base64url')
      open.add(digest(token))
      return token
    },
    exchange(token) {
      if (clock.monotonicMs() < lockedUntilMs) {
        throw new AppError('exchange_locked', 'Too many wrong links were tried. Wait a minute, then open a new one.')
      }
      const offered = digest(token)
      const match = [...open].find((each) => timingSafeEqual(Buffer.from(each), Buffer.from(offered)))
      if (match === undefined) {
        if (++wrong >= MAX_WRONG_TOKENS) {
          wrong = 0
          lockedUntilMs = clock.monotonicMs() + LOCK_MS
        }
        throw new AppError(
          'unauthenticated',
          'This link was used already or is not from this host. Run "npm start -- --browser" for a new one.',
        )
      }
      open.delete(match)
      wrong = 0
      const value = `${clock.nowMs() + COOKIE_MS}.${Buffer.from(ids.bytes(16)).toString('base64url')}`
      const cookie = `${value}.${sign(value).toString('base64url')}`
      return `${name}=${cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${COOKIE_MS / 1_000}`
    },
    admits(header) {
      for (const part of (header ?? '').split(';')) {
        const [key, cookie = ''] = part.trim().split('=', 2)
        if (key === name && genuine(cookie, sign) && expiry(cookie) > clock.nowMs()) return true
      }
      return false
    },
  }
}

const digest = (token: string): string => createHash('sha256').update(token).digest('hex')

const expiry = (cookie: string): number => Number(cookie.split('.', 1)[0])

function genuine(cookie: string, sign: (text: string) => Buffer): boolean {
  const cut = cookie.lastIndexOf('.')
  if (cut < 0) return false
  const offered = Buffer.from(cookie.slice(cut + 1), 'base64url')
  const expected = sign(cookie.slice(0, cut))
  return offered.length === expected.length && timingSafeEqual(offered, expected)
}
