import { EventEmitter } from 'node:events'

/** What the app asked of Electron, in order. */
export const calls: { api: string; args: unknown[] }[] = []

export function note(api: string, ...args: unknown[]): void {
  calls.push({ api, args })
}

/** Writes each call down and then does what `known` says; a method that it lacks does nothing. */
export function recorded<T extends object>(
  name: string,
  known: T,
): T & Record<string, (...args: unknown[]) => unknown> {
  return new Proxy(known, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof key === 'symbol' || key === 'then' || key in EventEmitter.prototype) return value
      if (typeof value !== 'function' && key in target) return value
      return (...args: unknown[]): unknown => {
        note(`${name}.${key}`, ...args)
        return typeof value === 'function' ? (Reflect.apply(value, target, args) as unknown) : undefined
      }
    },
  }) as T & Record<string, (...args: unknown[]) => unknown>
}

export interface Preventable {
  defaultPrevented: boolean
  preventDefault(): void
}

export function preventable(): Preventable {
  return {
    defaultPrevented: false,
    preventDefault() {
      this.defaultPrevented = true
    },
  }
}
