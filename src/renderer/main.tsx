import '../shared/zod-jitless.ts'
import './tokens.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { AppError } from '../shared/errors.ts'
import { App } from './app/App.tsx'
import { BridgeProvider, connectBridge } from './bridge/index.ts'
import { createAppStores, StoresProvider } from './stores/app-stores.tsx'
import { UiProvider } from './ui/index.ts'

const root = document.querySelector('#root')
if (root === null) throw new AppError('internal', 'The page has no root.')

const bridge = connectBridge(window)
const stores = createAppStores(bridge)
/** Topics invalidate what changed: nothing grows stale by itself, and nothing is asked again on focus. */
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && error instanceof AppError && error.retryable,
    },
  },
})

createRoot(root).render(
  <StrictMode>
    <UiProvider>
      <BridgeProvider bridge={bridge}>
        <StoresProvider stores={stores}>
          <QueryClientProvider client={queries}>
            <App />
          </QueryClientProvider>
        </StoresProvider>
      </BridgeProvider>
    </UiProvider>
  </StrictMode>,
)
