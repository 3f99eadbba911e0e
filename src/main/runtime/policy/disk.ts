import { gitRuns } from './git-repository.ts'
import { followLinks } from './links.ts'
import type { PolicyContext } from './types.ts'

/** What the policy is to know of this machine's disk. */
export const onDisk: Pick<PolicyContext, 'follow' | 'gitRuns'> = { follow: followLinks, gitRuns }
