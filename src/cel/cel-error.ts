// The error of an evaluation. It is a value like others: && and || can have a result in spite of it.

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

/** Thrown, not returned: no operator can have a result in spite of it. */
export class EvaluationAborted extends Error {}

/** The budget is spent. */
export class CostLimitExceeded extends EvaluationAborted {
  override readonly name = 'CostLimitExceeded'
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}
