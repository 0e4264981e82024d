// Values that may be there at once. To wait for what is there already costs a promise, a turn of the queue and, on the
// way of every request, a good part of the whole: where nothing has to be waited for, nothing is.

export type Awaitable<T> = T | Promise<T>

/** Goes on with a value: at once if it is there, else when it is. */
export const andThen = <A, B>(value: Awaitable<A>, goOn: (value: A) => Awaitable<B>): Awaitable<B> =>
  value instanceof Promise ? value.then(goOn) : goOn(value)

/** Does what may fail at once or later; `fail` makes something else of it, or throws. */
export function orElse<T>(action: () => Awaitable<T>, fail: (error: unknown) => T): Awaitable<T> {
  try {
    const done = action()
    return done instanceof Promise ? done.catch(fail) : done
  } catch (error) {
    return fail(error)
  }
}

/** All of them: at once if all are there. */
export const allOf = <T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> =>
  values.some(value => value instanceof Promise)
    ? Promise.all(values.map(async value => value))
    : (values as readonly T[])
