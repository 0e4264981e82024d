// Values that are either known now or promised. Awaiting a known value costs a promise and a turn of the microtask queue,
// which is a noticeable part of a short request, so these functions stay synchronous as long as no promise is involved.

export type Awaitable<T> = T | Promise<T>

/** Continues with a value: synchronously if it is known, otherwise when the promise resolves. */
export const andThen = <A, B>(value: Awaitable<A>, proceed: (value: A) => Awaitable<B>): Awaitable<B> =>
  value instanceof Promise ? value.then(proceed) : proceed(value)

/** Runs an action and handles its failure, thrown or rejected. `fail` returns a replacement or throws. */
export function orElse<T>(action: () => Awaitable<T>, fail: (error: unknown) => Awaitable<T>): Awaitable<T> {
  try {
    const done = action()
    return done instanceof Promise ? done.catch(fail) : done
  } catch (error) {
    return fail(error)
  }
}

/** All values: synchronously if none is a promise. */
export const allOf = <T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> =>
  values.some(value => value instanceof Promise)
    ? Promise.all(values.map(async value => value))
    : (values as readonly T[])

/** Calls the action for one item after the other: without a promise as long as it returns none. */
export function eachInTurn<T>(items: readonly T[], action: (item: T) => Awaitable<void>, first = 0): Awaitable<void> {
  for (let i = first; i < items.length; i++) {
    const pending = action(items[i]!)
    if (pending instanceof Promise) return pending.then(() => eachInTurn(items, action, i + 1))
  }
}
