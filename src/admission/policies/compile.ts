// The expressions of one policy as programs, and their evaluation for one request: variables are evaluated when an
// expression reads them, once, and all costs are counted.

import type { Awaitable } from '../../base/awaitable.js'
import type { Turns } from '../../base/turns.js'
import { type AdmissionProgram } from '../../builtin/admission-expressions.js'
import { createPolicyCompiler, type PolicyCompiler, VARIABLES_TYPE } from '../../builtin/policy-expressions.js'
import { CelError, MAX_WORK, ObjectValue, Series, type Value, type Variables, WorkBudget } from '../../cel/index.js'
import { quote } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { has, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type MatchConditions, matchConditions } from '../expressions/match-conditions.js'

/** What validating and mutating policies have in common. */
export interface PolicyPrograms {
  readonly spec: ValueObject
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly conditions: MatchConditions
  /** Compiles the other expressions; all variables are declared. */
  readonly compiler: PolicyCompiler
  readonly variables: ReadonlyMap<string, AdmissionProgram>
}

/** One expression with its text, which is in the messages of its errors. */
export interface PolicyExpression {
  readonly text: string
  readonly compiled: AdmissionProgram
}

/** Compiled when it is first evaluated: a policy may have thousands of expressions. */
export class LazyExpression implements PolicyExpression {
  private program: AdmissionProgram | undefined

  constructor(
    readonly text: string,
    private readonly compile: (text: string) => AdmissionProgram,
  ) {}

  get compiled(): AdmissionProgram {
    return (this.program ??= this.compile(this.text))
  }
}

export function compilePolicy(policy: ApiObject): PolicyPrograms {
  const spec = objectAt(policy, 'spec')
  const params = has(spec, 'paramKind')
  const compiler = createPolicyCompiler({ params, variables: true })
  const variables = new Map<string, AdmissionProgram>()
  for (const variable of objectsAt(spec, 'variables')) {
    const name = stringAt(variable, 'name')
    variables.set(name, compiler.variable(name, stringAt(variable, 'expression')))
  }
  const failurePolicy = stringAt(spec, 'failurePolicy') === 'Ignore' ? 'Ignore' : 'Fail'
  const conditions = objectsAt(spec, 'matchConditions').map(condition => ({
    name: stringAt(condition, 'name'),
    expression: stringAt(condition, 'expression'),
  }))
  return {
    spec,
    failurePolicy,
    conditions: matchConditions(conditions, failurePolicy, { params, authorizer: true }),
    compiler,
    variables,
  }
}

/** Whether an expression or a variable may refer to the namespace of the request. Nothing is compiled for that. */
export const mayReadNamespace = ({ spec }: PolicyPrograms, expressions: readonly PolicyExpression[]): boolean =>
  [
    ...objectsAt(spec, 'variables').map(variable => stringAt(variable, 'expression')),
    ...expressions.map(({ text }) => text),
  ].some(text => text.includes('namespaceObject'))

// ---- evaluation

/** The cost of all expressions of a policy for one binding and one set of parameters. */
export const COST_BUDGET = 10_000_000
/** The cost of one expression. */
const COST_LIMIT = 1_000_000

/** After so many expressions, and after an expression of this cost, others may get a turn. */
const SHORT_EXPRESSIONS = 16
const LONG_COST = 10_000

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** Thrown when the budget is spent: nothing more of the policy is evaluated. */
export class OutOfBudget extends Error {
  constructor() {
    super(OUT_OF_BUDGET)
  }
}

/** Evaluates expressions of a policy one after the other, with variables that they share, within one budget. */
export class PolicyEvaluation {
  /** Undefined if the policy has none. */
  private readonly variables: LazyVariables | undefined
  private readonly series: Series

  constructor(
    { variables }: PolicyPrograms,
    inputs: Variables,
    /** What is left of the cost budget. */
    public left = COST_BUDGET,
  ) {
    const work = new WorkBudget(MAX_WORK)
    let own = 'variables' in inputs ? inputs : { ...inputs, variables: NO_VARIABLES }
    if (variables.size > 0) {
      this.variables = new LazyVariables(variables, work)
      own = { ...inputs, variables: this.variables }
      this.variables.inputs = own
    }
    this.series = new Series(own, COST_LIMIT, work)
  }

  /** The variables of the environment, with those of the policy. */
  get inputs(): Variables {
    return this.series.variables
  }

  /** The value, or an error with its message. */
  evaluate({ text, compiled }: PolicyExpression): Value {
    if (!compiled.ok) return new CelError(`compilation error: ${compiled.error}`)
    const { series } = this
    const value = compiled.program.evaluateIn(series)
    if (this.variables) this.spend(this.variables.takeCost())
    this.spend(series.cost)
    return value instanceof CelError ? new CelError(`expression '${text}' resulted in error: ${value.message}`) : value
  }

  /** The values of several, in turns; null where there is no expression. */
  evaluateAll(
    expressions: readonly (PolicyExpression | undefined)[],
    turns: Turns,
    values: Value[] = [],
  ): Awaitable<readonly Value[]> {
    while (values.length < expressions.length) {
      const expression = expressions[values.length]
      const { left } = this
      values.push(expression ? this.evaluate(expression) : null)
      // Reading the clock takes as long as a short expression.
      const isLong = values.length % SHORT_EXPRESSIONS === 0 || left - this.left > LONG_COST
      if (isLong && turns.isDue()) return turns.give().then(() => this.evaluateAll(expressions, turns, values))
    }
    return values
  }

  private spend(cost: number): void {
    if (cost > this.left) throw new OutOfBudget()
    this.left -= cost
  }
}

/** So many variables may each be read by the one after it: the stack has room for them. */
const MAX_DEPTH = 250

/** `variables`: each is evaluated when it is first read. */
class LazyVariables extends ObjectValue {
  readonly type = VARIABLES_TYPE
  inputs: Variables = {}
  private readonly known = new Map<string, Value>()
  private cost = 0
  private depth = 0

  constructor(
    private readonly programs: ReadonlyMap<string, AdmissionProgram>,
    private readonly work: WorkBudget,
  ) {
    super()
  }

  get(name: string): Value | undefined {
    const compiled = this.programs.get(name)
    if (compiled === undefined) return undefined
    let value = this.known.get(name)
    if (value === undefined) {
      value = this.compute(name, compiled)
      this.known.set(name, value)
    }
    return value
  }

  equals(other: Value): boolean {
    return this === other
  }

  /** The cost of what was evaluated since the last call. */
  takeCost(): number {
    const { cost } = this
    this.cost = 0
    return cost
  }

  private compute(name: string, compiled: AdmissionProgram): Value {
    if (!compiled.ok) return new CelError(`composited variable ${quote(name)} fails to compile: ${compiled.error}`)
    if (this.depth === MAX_DEPTH) return new CelError(`more than ${MAX_DEPTH} variables refer to each other`)
    this.depth++
    const { value, error, cost } = compiled.program.evaluate(this.inputs, {
      costLimit: COST_LIMIT,
      budget: this.work,
    })
    this.depth--
    this.cost += cost
    return error === undefined
      ? value!
      : new CelError(`composited variable ${quote(name)} fails to evaluate: ${error.message}`)
  }
}

/** `variables` of policies that have none. Inputs with it need not be copied for each policy. */
export const NO_VARIABLES: Value = new LazyVariables(new Map(), new WorkBudget(0))
