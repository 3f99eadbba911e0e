import { cleanup, configure } from '@testing-library/react'
import { afterEach } from 'vitest'

// What is looked for comes at once on a quiet machine; on a busy one it may take its time.
configure({ asyncUtilTimeout: 10_000 })

afterEach(cleanup)

/** Nothing here reaches a network: a page asks its host over the bridge alone, and for itself where a test says so. */
globalThis.fetch = () => Promise.reject(new TypeError('There is no network in these tests.'))
