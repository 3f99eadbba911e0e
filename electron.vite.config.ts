import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'

export default defineConfig({
  main: {
    build: {
      // The optional keychain libraries may be absent: they are required at run time, never bundled.
      externalizeDeps: { include: ['keytar', '@napi-rs/keyring'] },
      rollupOptions: {
        input: {
          index: 'src/main/index.ts',
          serve: 'src/main/serve.ts',
          cli: 'src/main/cli.ts',
          agent: 'src/agent/index.ts',
        },
      },
    },
  },
  preload: {
    // A sandboxed preload must be one CommonJS file without imports of its own.
    build: {
      externalizeDeps: false,
      rollupOptions: { input: 'src/preload/index.ts', output: { format: 'cjs', entryFileNames: '[name].cjs' } },
    },
  },
  renderer: {
    root: 'src/renderer',
    plugins: [react()],
    build: { target: 'chrome140', cssTarget: 'chrome140' },
  },
})
