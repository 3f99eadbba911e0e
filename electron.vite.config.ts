import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'

export default defineConfig({
  main: {
    define: { __WHEELHOUSE_TEST_BUILD__: 'false' },
    build: {
      // The optional keychain libraries may be absent: they are required at run time, never bundled. What the built-in
      // agent loads is bundled, so that it answers `initialize` a third sooner than with modules looked up on disk.
      externalizeDeps: {
        include: ['keytar', '@napi-rs/keyring'],
        exclude: ['ai', '@ai-sdk/anthropic', '@ai-sdk/openai', 'zod'],
      },
      rollupOptions: {
        input: {
          index: 'src/main/index.ts',
          serve: 'src/main/serve.ts',
          cli: 'src/main/cli.ts',
          agent: 'src/agent/index.ts',
          'mcp-bridge': 'src/mcp-bridge/index.ts',
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
    // One file of a megabyte: a window needs nearly all of it to show a session, and it comes from this machine.
    build: { target: 'chrome140', cssTarget: 'chrome140', minify: true, chunkSizeWarningLimit: 2_048 },
  },
})
