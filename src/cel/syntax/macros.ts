// Macros: calls that stand for other expressions. Each gets the parts of its call and returns the expansion.
import { ACCUMULATOR, type CallExpr, type Expr, type LiteralValue, type MapEntry, OPERATORS } from './syntax-tree.js'

/** Makes nodes at the place of the macro call. */
export interface MacroBuilder {
  literal(value: LiteralValue): Expr
  ident(name: string): Expr
  call(name: string, ...args: Expr[]): Expr
  memberCall(name: string, target: Expr, ...args: Expr[]): Expr
  list(...elements: Expr[]): Expr
  map(...entries: MapEntry[]): Expr
  entry(key: Expr, value: Expr, optional?: boolean): MapEntry
  testOnlySelect(operand: Expr, field: string): Expr
  comprehension(parts: {
    range: Expr
    iterVar: string
    iterVar2?: string | undefined
    accuVar?: string
    init: Expr
    condition: Expr
    step: Expr
    result: Expr
  }): Expr
  /** The node for an expansion in which it stands twice. */
  shared(expr: Expr): Expr
  /** Reports an error of one argument. */
  error(at: Expr, message: string): undefined
}

export interface Macro {
  readonly name: string
  /** True for `x.name(…)`, false for `name(…)`. */
  readonly receiver: boolean
  readonly args: number
  /** The expansion; undefined leaves the call as it is. */
  readonly expand: (builder: MacroBuilder, target: Expr, args: readonly Expr[], call: CallExpr) => Expr | undefined
}

const receiver = (name: string, args: number, expand: Macro['expand']): Macro => ({
  name,
  receiver: true,
  args,
  expand,
})

/** The macros of the language itself. */
export const STANDARD_MACROS: readonly Macro[] = [
  {
    name: 'has',
    receiver: false,
    args: 1,
    expand: (b, _target, [arg]) =>
      arg?.kind === 'select'
        ? b.testOnlySelect(arg.operand, arg.field)
        : b.error(arg!, 'invalid argument to has() macro'),
  },
  receiver('all', 2, (b, range, [v, predicate]) => quantify(b, 'all', range, [v!], predicate!, SIMPLE_NAME)),
  receiver('exists', 2, (b, range, [v, predicate]) => quantify(b, 'exists', range, [v!], predicate!, SIMPLE_NAME)),
  receiver('exists_one', 2, (b, range, [v, predicate]) => quantify(b, 'one', range, [v!], predicate!, SIMPLE_NAME)),
  receiver('map', 2, (b, range, [v, result]) => transform(b, range, v!, undefined, result!)),
  receiver('map', 3, (b, range, [v, filter, result]) => transform(b, range, v!, filter, result!)),
  receiver('filter', 2, (b, range, [v, filter]) => transform(b, range, v!, filter, v!)),
]

/** `existsOne`, the later spelling of `exists_one`. */
export const EXISTS_ONE_MACRO: Macro = receiver('existsOne', 2, (b, range, [v, predicate]) =>
  quantify(b, 'one', range, [v!], predicate!, SIMPLE_NAME),
)

/** Macros over index and value of a list, or key and value of a map. */
export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  receiver('all', 3, (b, range, [k, v, p]) => quantify(b, 'all', range, [k!, v!], p!, SIMPLE_NAME)),
  receiver('exists', 3, (b, range, [k, v, p]) => quantify(b, 'exists', range, [k!, v!], p!, SIMPLE_NAME)),
  receiver('existsOne', 3, (b, range, [k, v, p]) => quantify(b, 'one', range, [k!, v!], p!, SIMPLE_NAME)),
  receiver('exists_one', 3, (b, range, [k, v, p]) => quantify(b, 'one', range, [k!, v!], p!, SIMPLE_NAME)),
  receiver('transformList', 3, (b, range, [k, v, t]) => transformList(b, range, k!, v!, undefined, t!)),
  receiver('transformList', 4, (b, range, [k, v, f, t]) => transformList(b, range, k!, v!, f, t!)),
  receiver('transformMap', 3, (b, range, [k, v, t]) => transformMap(b, range, k!, v!, undefined, t!)),
  receiver('transformMap', 4, (b, range, [k, v, f, t]) => transformMap(b, range, k!, v!, f, t!)),
  receiver('transformMapEntry', 3, (b, range, [k, v, t]) => transformMapEntry(b, range, k!, v!, undefined, t!)),
  receiver('transformMapEntry', 4, (b, range, [k, v, f, t]) => transformMapEntry(b, range, k!, v!, f, t!)),
]

/** `optMap` and `optFlatMap`: what to do with the value of an optional, if there is one. */
export const OPTIONAL_MACROS: readonly Macro[] = [
  receiver('optMap', 2, (b, target, [v, body]) => {
    const name = simpleName(b, v!, 'optMap() variable name must be a simple identifier')
    if (name === undefined) return undefined
    const optional = b.shared(target)
    return b.call(
      OPERATORS.conditional,
      b.memberCall('hasValue', optional),
      b.call('optional.of', bind(b, name, b.memberCall('value', optional), body!, '#unused')),
      b.call('optional.none'),
    )
  }),
  receiver('optFlatMap', 2, (b, target, [v, body]) => {
    const name = simpleName(b, v!, 'optFlatMap() variable name must be a simple identifier')
    if (name === undefined) return undefined
    const optional = b.shared(target)
    return b.call(
      OPERATORS.conditional,
      b.memberCall('hasValue', optional),
      bind(b, name, b.memberCall('value', optional), body!, '#unused'),
      b.call('optional.none'),
    )
  }),
]

/** `cel.bind(name, value, body)`. */
export const BIND_MACRO: Macro = receiver('bind', 3, (b, target, [v, value, body]) => {
  if (target.kind !== 'ident' || target.name !== 'cel') return undefined
  const name = simpleName(b, v!, 'cel.bind() variable names must be simple identifiers')
  return name === undefined ? undefined : bind(b, name, value!, body!, '#unused')
})

/** `list.sortBy(e, key)`: sorts by keys that are computed once for each element. */
export const SORT_BY_MACRO: Macro = receiver('sortBy', 2, (b, target, [v, key]) => {
  const allowed = target.kind === 'select' || target.kind === 'ident' || target.kind === 'list'
  if (!allowed && target.kind !== 'comprehension' && target.kind !== 'call') {
    return b.error(target, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression')
  }
  const keys = transform(b, b.ident('@__sortBy_input__'), v!, undefined, key!)
  if (keys === undefined) return undefined
  return bind(
    b,
    '@__sortBy_input__',
    target,
    b.memberCall('@sortByAssociatedKeys', b.ident('@__sortBy_input__'), keys),
    '#unused',
  )
})

const SIMPLE_NAME = 'argument must be a simple name'
const NOT_AN_IDENTIFIER = 'argument is not an identifier'

function simpleName(b: MacroBuilder, arg: Expr, message: string): string | undefined {
  // A name with a dot before it is accepted, though nothing can refer to the variable then.
  if (arg.kind === 'ident') return arg.name
  return b.error(arg, message)
}

/** The names of iteration variables, or undefined after reporting an error of one. */
function variables(b: MacroBuilder, args: readonly Expr[], message: string): readonly string[] | undefined {
  const names: string[] = []
  for (const arg of args) {
    const name = simpleName(b, arg, message)
    if (name === undefined) return undefined
    names.push(name)
  }
  const [first, second] = names
  if (second !== undefined && first === second) return b.error(args[1]!, `duplicate variable name: ${second}`)
  for (const [i, name] of names.entries()) {
    if (name === ACCUMULATOR || name === '__result__') {
      return b.error(args[i]!, 'iteration variable overwrites accumulator variable')
    }
  }
  return names
}

function quantify(
  b: MacroBuilder,
  kind: 'all' | 'exists' | 'one',
  range: Expr,
  args: readonly Expr[],
  predicate: Expr,
  message: string,
): Expr | undefined {
  const names = variables(b, args, message)
  if (names === undefined) return undefined
  const accu = (): Expr => b.ident(ACCUMULATOR)
  const loop = { range, iterVar: names[0]!, iterVar2: names[1] }
  switch (kind) {
    case 'all':
      return b.comprehension({
        ...loop,
        init: b.literal(true),
        condition: b.call(OPERATORS.notStrictlyFalse, accu()),
        step: b.call(OPERATORS.and, accu(), predicate),
        result: accu(),
      })
    case 'exists':
      return b.comprehension({
        ...loop,
        init: b.literal(false),
        condition: b.call(OPERATORS.notStrictlyFalse, b.call(OPERATORS.not, accu())),
        step: b.call(OPERATORS.or, accu(), predicate),
        result: accu(),
      })
    case 'one':
      return b.comprehension({
        ...loop,
        init: b.literal(0),
        condition: b.literal(true),
        step: b.call(OPERATORS.conditional, predicate, b.call(OPERATORS.add, accu(), b.literal(1)), accu()),
        result: b.call(OPERATORS.equals, accu(), b.literal(1)),
      })
  }
}

/** `accu + [result]` for each element that the filter, if there is one, lets through. */
function transform(
  b: MacroBuilder,
  range: Expr,
  variable: Expr,
  filter: Expr | undefined,
  result: Expr,
): Expr | undefined {
  const names = variables(b, [variable], NOT_AN_IDENTIFIER)
  if (names === undefined) return undefined
  const step = b.call(OPERATORS.add, b.ident(ACCUMULATOR), b.list(result))
  return b.comprehension({
    range,
    iterVar: names[0]!,
    init: b.list(),
    condition: b.literal(true),
    step: filtered(b, filter, step),
    result: b.ident(ACCUMULATOR),
  })
}

const filtered = (b: MacroBuilder, filter: Expr | undefined, step: Expr): Expr =>
  filter === undefined ? step : b.call(OPERATORS.conditional, filter, step, b.ident(ACCUMULATOR))

/** Folds keys and values into an accumulator, of those that pass the filter if there is one. */
function gather(
  b: MacroBuilder,
  range: Expr,
  [k, v]: readonly [Expr, Expr],
  filter: Expr | undefined,
  begin: () => Expr,
  add: (key: string) => Expr,
): Expr | undefined {
  const names = variables(b, [k, v], SIMPLE_NAME)
  if (names === undefined) return undefined
  return b.comprehension({
    range,
    iterVar: names[0]!,
    iterVar2: names[1],
    init: begin(),
    condition: b.literal(true),
    step: filtered(b, filter, add(names[0]!)),
    result: b.ident(ACCUMULATOR),
  })
}

const transformList = (b: MacroBuilder, range: Expr, k: Expr, v: Expr, filter: Expr | undefined, result: Expr) =>
  gather(
    b,
    range,
    [k, v],
    filter,
    () => b.list(),
    () => b.call(OPERATORS.add, b.ident(ACCUMULATOR), b.list(result)),
  )

const transformMap = (b: MacroBuilder, range: Expr, k: Expr, v: Expr, filter: Expr | undefined, result: Expr) =>
  gather(
    b,
    range,
    [k, v],
    filter,
    () => b.map(),
    key => b.call(MAP_INSERT, b.ident(ACCUMULATOR), b.ident(key), result),
  )

const transformMapEntry = (b: MacroBuilder, range: Expr, k: Expr, v: Expr, filter: Expr | undefined, result: Expr) =>
  gather(
    b,
    range,
    [k, v],
    filter,
    () => b.map(),
    () => b.call(MAP_INSERT, b.ident(ACCUMULATOR), result),
  )

const MAP_INSERT = 'cel.@mapInsert'

/** A local variable is an accumulator over nothing: its initial value, and the body as the result. */
const bind = (b: MacroBuilder, name: string, value: Expr, body: Expr, unused: string): Expr =>
  b.comprehension({
    range: b.list(),
    iterVar: unused,
    accuVar: name,
    init: value,
    condition: b.literal(false),
    step: b.ident(name),
    result: body,
  })
