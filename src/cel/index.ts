// The Common Expression Language: compile an expression once, evaluate it often, know what it costs before and after.
// This is the package entry `binnacle/cel`, and the only door of this room.

// Compiling and evaluating.

export { CelError, CostLimitExceeded, EvaluationAborted, isError, NO_SUCH_OVERLOAD } from './cel-error.js'
export { type EvaluateOptions, type Evaluation, Series } from './eval/evaluator.js'
export { type PartTrace, type TracedEvaluation, traceEvaluation } from './eval/trace.js'
export {
  type Compilation,
  type CompileOptions,
  compile,
  type Program,
} from './program.js'
export { parse } from './syntax/parser.js'
export type { Issue, Source } from './syntax/source.js'

// What expressions may refer to: variables, functions, types.

export * as types from './check/cel-type.js'
export { type CelType, printType, runtimeTypeName } from './check/cel-type.js'
export type { Checked } from './check/checker.js'
export { MAX_WORK, WorkBudget } from './cost/work-budget.js'
export {
  createEnvironment,
  type Environment,
  type EnvironmentOptions,
  extendEnvironment,
  type FunctionDeclaration,
  type Library,
  type ObjectTypes,
  type Overload,
} from './environment.js'
export type { Variables } from './eval/frame.js'
export type { CompoundLayout, DynamicLayout, Layout } from './eval/layout.js'
export {
  AUTHORIZER,
  type AuthorizerDecision,
  type AuthorizerHost,
  AuthorizerValue,
  RESOURCE_CHECK,
  type ResourceAttributes,
  ResourceCheck,
} from './libraries/authorizer.js'
export { RULE_ENVIRONMENT, RULE_LIBRARIES } from './libraries/rule-libraries.js'
export { STANDARD_LIBRARY } from './libraries/standard.js'

// What expressions may cost, before they are evaluated.

export { type CostTree, type EstimateOptions, estimateCost, type SizeEstimator } from './cost/cost-estimate.js'
export { type Interval, UNBOUNDED } from './cost/cost-intervals.js'
export { type ExpressionPart, partsBelow } from './syntax/expression-parts.js'
export { printExpression } from './syntax/print-expression.js'
export { positionIn } from './syntax/source.js'
export { type Expr, walk } from './syntax/syntax-tree.js'

// Values: from and to plain JavaScript, or made by the host.

export { Duration, parseTimestamp, Timestamp } from './values/moments.js'
export { Double, intOf, Uint } from './values/numbers.js'
export { fromPlain, toPlain } from './values/plain-values.js'
export {
  CelMap,
  equal,
  equalOrError,
  isList,
  itemAt,
  itemsOf,
  type List,
  ListValue,
  MapValue,
  mapFrom,
  ObjectValue,
  OPTIONAL_NONE,
  OpaqueValue,
  OptionalValue,
  sizeOfList,
  TypeValue,
  typeOfValue,
  type Value,
} from './values/values.js'
