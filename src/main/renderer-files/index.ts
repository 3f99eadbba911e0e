/** The built renderer's files and the rules they are served under, for both shells. */
export { contentType, resolveStatic } from './files.ts'
export { CONTENT_SECURITY_POLICY, SECURITY_HEADERS } from './headers.ts'
