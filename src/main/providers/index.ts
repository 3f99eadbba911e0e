export { createProviders } from './providers.ts'
export type { ProvidersDeps } from './providers.ts'
export { providerMigrations } from './routes/migrations.ts'
export type * from './types.ts'
