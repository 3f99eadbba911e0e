import { cleanup, configure } from '@testing-library/react'
import { afterEach } from 'vitest'

// What is looked for comes at once on a quiet machine; on a busy one it may take its time.
configure({ asyncUtilTimeout: 10_000 })

afterEach(cleanup)
