/** Before any schema: zod's compiled form needs `new Function`, which the renderer's content policy forbids. */
import { z } from 'zod'

z.config({ jitless: true })
