// How a status is stored.

/** Members that are 0, empty lists or undefined are left out, as the API prints them, unless they are always there. */
export function withoutZeros<T extends object>(status: T, always: readonly (keyof T & string)[] = []): T {
  const isKept = ([name, value]: [string, unknown]): boolean =>
    (always as readonly string[]).includes(name) ||
    (value !== 0 && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0))
  return Object.fromEntries(Object.entries(status).filter(isKept)) as T
}
