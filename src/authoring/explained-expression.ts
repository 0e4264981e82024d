// What is said of an expression that was tried out. The page of the console reads the same as JSON.

export interface ExplainedExpression {
  readonly ok: boolean
  /** As JSON; absent for an optional without a value. */
  readonly value?: unknown
  readonly type?: string
  readonly errors?: readonly ExpressionError[]
  readonly cost?: {
    readonly actual: number | undefined
    readonly estimate: CostRange
    /** The most that one evaluation may cost. */
    readonly limit: number
    /** The most that a rule may cost by estimate. */
    readonly estimateLimit?: number
  }
  readonly tree?: ExplainedPart
}

export interface ExpressionError {
  readonly message: string
  /** Code points from the start, and the line and column from 1; absent without a position. */
  readonly offset?: number
  readonly line?: number
  readonly column?: number
}

/** `max` is absent where there is no bound. */
export interface CostRange {
  readonly min: number
  readonly max?: number
}

export interface ExplainedPart {
  readonly text: string
  readonly type: string
  /** Evaluated once for each element of the part above. */
  readonly repeated?: true
  readonly estimate?: CostRange
  /** The cost of all evaluations, parts below included; absent if it was not evaluated. */
  readonly actual?: number
  readonly evaluations: number
  /** The value of the first evaluation, as short text. */
  readonly value?: string
  readonly error?: string
  readonly children: readonly ExplainedPart[]
}
