import type { Migration } from '../../platform/types.ts'
import { initial } from './001-initial.ts'
import { removals } from './002-removals.ts'
import { listings } from './003-listings.ts'
import { lookups } from './004-lookups.ts'
import { ruleFolders } from './005-rule-folders.ts'

/** The runtime's migrations, in order. */
export const runtimeMigrations: readonly Migration[] = [initial, removals, listings, lookups, ruleFolders]
