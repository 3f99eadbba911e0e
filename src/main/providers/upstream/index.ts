export { checkBaseUrl, judgeAddress, judgeHost, judgeResolved } from './addresses.ts'
export { bodyOf, streamOf } from './answer-body.ts'
export type { AnswerBody } from './answer-body.ts'
export { headerText } from './answer-headers.ts'
export { blankBytes, blankText, createBlanker } from './echoes.ts'
export { createUpstream } from './upstream.ts'
export type { UpstreamDeps } from './upstream.ts'
export { proxyFor, systemProxy } from './proxy.ts'
export { upstreamUrl } from './url.ts'
export type {
  AddressVerdict,
  AnswerHeaders,
  AuthMode,
  BlockedReason,
  JsonAnswer,
  JsonRequest,
  LookupAddress,
  Upstream,
  UpstreamAnswer,
  UpstreamAuth,
  UpstreamRequest,
  WebSocketRequest,
} from './types.ts'
