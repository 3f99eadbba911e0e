/** What of WebAssembly is used here; TypeScript has it for browsers alone. */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  const Module: new (bytes: Uint8Array) => object
  const Instance: new (module: object) => { readonly exports: object }
}
