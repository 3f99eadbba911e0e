/** Every string of the interface, in one typed catalogue: plain words, or functions of what they name. */
import { app } from './app.ts'
import { content } from './content.ts'
import { errors } from './errors.ts'
import { newSession } from './new-session.ts'
import { session } from './session.ts'
import { sessions } from './sessions.ts'

export const strings = { app, content, errors, newSession, session, sessions } as const
