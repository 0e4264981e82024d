// The error that an evaluation comes to. It is a value like others: && and || may make up for it.

export class CelError {
  constructor(
    readonly message: string,
    /** Set where no overload fits the values, which hosts report in words of their own. */
    readonly noSuchOverload = false,
  ) {}
}

export const isError = (value: unknown): value is CelError => value instanceof CelError

export const NO_SUCH_OVERLOAD = new CelError('no such overload', true)

export const noSuchOverload = (name: string): CelError => new CelError(`no such overload: ${name}`, true)

/** Thrown, not returned: nothing makes up for having spent the budget. */
export class CostLimitExceeded extends Error {
  override readonly name = 'CostLimitExceeded'
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}
