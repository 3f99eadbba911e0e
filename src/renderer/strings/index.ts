/** Every string of the interface, in one typed catalogue: plain words, or functions of what they name. */
import { errors } from './errors.ts'

export const strings = { errors } as const
