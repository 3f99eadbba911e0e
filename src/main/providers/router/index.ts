export { routeDigest } from './admission.ts'
export { createRouter } from './router.ts'
export type {
  Endpoint,
  Exchange,
  ExchangeEnd,
  ExchangeFlag,
  ExchangeRecord,
  RouteBinding,
  RoutedModel,
  RouteProtocol,
  Router,
  RouterDeps,
  RouterPort,
  TokenUsage,
} from './types.ts'
