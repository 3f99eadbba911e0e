/** `{ a?: T | undefined }` as `{ a?: T }`: what a schema leaves undefined is not there. */
export type Compact<T> = { [K in keyof T]: Exclude<T[K], undefined> }

export function compact<T extends object>(value: T): Compact<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Compact<T>
}
