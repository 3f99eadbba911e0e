/** `node --import ./register.ts out/main/index.js`: for the built main, `electron` means the stand-in. */
import { registerHooks } from 'node:module'

const url = new URL('./electron.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' || specifier.startsWith('electron/')
      ? { url, shortCircuit: true }
      : next(specifier, context),
})
