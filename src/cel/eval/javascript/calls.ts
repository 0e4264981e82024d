// Operators and functions in JavaScript. Functions without an operator are called as the closures call them.
import { BOOL, type CelType, INT, STRING } from '../../check/cel-type.js'
import type { FunctionReference } from '../../check/checker.js'
import { WorkBudget } from '../../cost/work-budget.js'
import { type CallExpr, type Expr, OPERATORS } from '../../syntax/syntax-tree.js'
import type { Value } from '../../values/values.js'
import { containsCost, directBinary, pairCost, textCost } from '../direct-operators.js'
import { type CompoundLayout, type DynamicLayout, isDynamic } from '../layout.js'
import { plainIndex } from '../plan-calls.js'
import { implementation } from '../plan-functions.js'
import { type Generator, NotWritten, type Position } from './generator.js'
import { type Operand, RETURN_GIVE_UP, type Shape } from './writer.js'

export function writeCall(generator: Generator, expr: CallExpr, position: Position): Operand {
  switch (expr.name) {
    case OPERATORS.and:
      return writeLogic(generator, expr, true)
    case OPERATORS.or:
      return writeLogic(generator, expr, false)
    case OPERATORS.conditional:
      return writeConditional(generator, expr)
    case OPERATORS.index:
      return writeIndex(generator, expr, position)
    // Their arguments are not all evaluated, or they change one of them.
    case OPERATORS.optionalIndex:
    case OPERATORS.optionalSelect:
    case 'cel.@mapInsert':
    case 'or':
    case 'orValue':
      throw new NotWritten()
    default:
      return writeFunction(generator, expr)
  }
}

/** The right side is evaluated if the left side is `continues`. */
function writeLogic(generator: Generator, { args }: CallExpr, isFragment: boolean): Operand {
  const { writer } = generator
  const left = generator.as('bool', generator.write(args[0]!))
  const result = writer.name()
  writer.line(`let ${result} = ${!isFragment}`)
  writer.block(`if (${isFragment ? '' : '!'}${left.code})`, () => {
    writer.line(`${result} = ${generator.as('bool', generator.write(args[1]!)).code}`)
  })
  return { code: result, shape: 'bool' }
}

function writeConditional(generator: Generator, { args }: CallExpr): Operand {
  const { writer } = generator
  const [requested, then, otherwise] = args as [Expr, Expr, Expr]
  const condition = generator.as('bool', generator.write(requested))
  const result = writer.name()
  const shapes: Shape[] = []
  const branch = (expr: Expr) => () => {
    const { code, shape } = generator.write(expr, 'branch')
    shapes.push(shape)
    writer.line(`${result} = ${code}`)
  }
  writer.line(`let ${result}`)
  writer.block(`if (${condition.code})`, branch(then), branch(otherwise))
  const [a, b] = shapes as [Shape, Shape]
  if (a === b) return { code: result, shape: a }
  // Two primitives of different types, or one and any value, are values both.
  if (typeof a === 'string' && typeof b === 'string') return { code: result, shape: 'value' }
  throw new NotWritten()
}

function writeIndex(generator: Generator, { args }: CallExpr, position: Position): Operand {
  const { writer } = generator
  const [operandExpr, keyExpr] = args as [Expr, Expr]
  const operand = generator.write(operandExpr, position)
  const key = generator.writeValue(keyExpr)
  const step = generator.stepCost(operandExpr, position)
  // The cost of looking up a name as the index is the cost of the index.
  writer.spend(key.constant === undefined && generator.isWay(keyExpr) ? step - 1 : step)
  if (typeof operand.shape === 'string') {
    return generator.notAnError(`${writer.param(plainIndex)}(${operand.code}, ${key.code})`)
  }
  if (isDynamic(operand.shape)) return writeDynamicIndex(generator, operand, operand.shape, key)
  const layout = operand.shape as CompoundLayout
  const isMap = layout.kind === 'map'
  if (!isMap && layout.kind !== 'list') throw new NotWritten()
  const { code } = generator.as(isMap ? 'string' : 'int', key)
  const member = `${operand.code}[${code}]`
  const raw = writer.temp(isMap ? `Object.hasOwn(${operand.code}, ${code}) ? ${member} : undefined` : member)
  return generator.look(raw, layout.element())
}

/** A text is the key of a map, an int that of a list. */
function writeDynamicIndex(generator: Generator, { code }: Operand, layout: DynamicLayout, key: Operand): Operand {
  const { writer } = generator
  switch (key.shape) {
    case 'string':
      writer.giveUpIf(`!${writer.param(layout.isMap)}(${code}) || !Object.hasOwn(${code}, ${key.code})`)
      break
    case 'int':
      writer.giveUpIf(`!Array.isArray(${code})`)
      break
    default: {
      const view = `${writer.param(layout.view)}(${code})`
      return generator.notAnError(`${writer.param(plainIndex)}(${view}, ${generator.valueOf(key).code})`)
    }
  }
  return generator.look(writer.temp(`${code}[${key.code}]`), layout)
}

// ---- functions

function writeFunction(generator: Generator, expr: CallExpr): Operand {
  const reference = generator.referenceOf(expr)
  if (reference?.kind !== 'function') throw new NotWritten()
  const args = expr.target && !reference.namespaced ? [expr.target, ...expr.args] : expr.args
  return (
    writeMembership(generator, reference, args) ??
    writeSize(generator, reference, args) ??
    writeDirect(generator, reference, args) ??
    writeInvocation(generator, reference, args)
  )
}

function writeInvocation(generator: Generator, reference: FunctionReference, args: readonly Expr[]): Operand {
  const written = args.map(arg =>
    generator.typeOf(arg)?.kind === 'dyn' ? generator.write(arg) : generator.writeValue(arg),
  )
  const direct = written.some(({ shape }) => isDynamic(shape)) && writeDynamic(generator, reference, args, written)
  return direct || writeGeneric(generator, reference, args, written)
}

function writeGeneric(
  generator: Generator,
  { name, overloads }: FunctionReference,
  args: readonly Expr[],
  written: readonly Operand[],
): Operand {
  const operands = written.map((operand, i) => generator.viewOf(args[i]!, operand))
  // Constants may make a constant of the call.
  if (operands.every(operand => operand.constant !== undefined)) throw new NotWritten()
  const call = generator.writer.param(implementation(name, overloads))
  return generator.writeOutside(`${call}(frame, [${operands.map(operand => operand.code).join(', ')}])`)
}

/** `text in ['a', 'b']`. Membership in a list of constants costs nothing. */
function writeMembership(
  generator: Generator,
  { overloads }: FunctionReference,
  [element, list]: readonly Expr[],
): Operand | undefined {
  if (overloads.length !== 1 || overloads[0]!.id !== 'in_list') return undefined
  const known = generator.constantOf(list!)
  if (!Array.isArray(known)) return undefined
  if (known.length === 0) return generator.constant(false)
  const items: readonly Value[] = known
  if (!items.every(item => typeof item === 'string')) throw new NotWritten()
  const { writer } = generator
  const text = generator.as('string', generator.writeValue(element!))
  return { code: writer.temp(`${writer.param(new Set(items))}.has(${text.code})`), shape: 'bool' }
}

// ---- functions of values whose type is found out when they are read

const PRIMITIVES: ReadonlyMap<string | undefined, CelType> = new Map([
  ['string', STRING],
  ['int', INT],
  ['bool', BOOL],
])

/** Operands are written already. Undefined if there is no code for the function. */
function writeDynamic(
  generator: Generator,
  reference: FunctionReference,
  args: readonly Expr[],
  written: readonly Operand[],
): Operand | undefined {
  const [a, b] = written as [Operand, Operand]
  switch (reference.name) {
    case 'size':
      return isDynamic(a.shape) ? writeDynamicSize(generator, a.code) : undefined
    case OPERATORS.in:
      return isDynamic(b.shape) && a.shape === 'string'
        ? writeKeyTest(generator, reference, a.code, b.code, b.shape)
        : undefined
    default: {
      if (args.length !== 2) return undefined
      // The other operand says which type both must have.
      const other = args.find((_, i) => !isDynamic(written[i]!.shape))
      const type = other && PRIMITIVES.get(generator.typeOf(other)?.kind)
      const overload = type && reference.overloads.find(each => directBinary(each, [type, type]))
      return overload && writeBinary(generator, overload.id, type.kind as Primitive, a, b)
    }
  }
}

function writeDynamicSize({ writer }: Generator, code: string): Operand {
  writer.spend(1)
  const size = writer.name()
  writer.line(`let ${size}`)
  writer.block(`if (Array.isArray(${code}))`, () => writer.line(`${size} = ${code}.length`))
  writer.block(`else if (typeof ${code} === 'string')`, () => writer.line(`${size} = frame.budget.codePoints(${code})`))
  writer.line(`else ${RETURN_GIVE_UP}`)
  return { code: size, shape: 'int' }
}

/** `text in x`: the key of a map, or an element of a list. */
function writeKeyTest(
  generator: Generator,
  { name, overloads }: FunctionReference,
  key: string,
  code: string,
  { isMap, view }: DynamicLayout,
): Operand {
  const { writer } = generator
  const result = writer.name()
  writer.line(`let ${result}`)
  writer.block(
    `if (${writer.param(isMap)}(${code}) && ${key}.length <= 100)`,
    () => {
      writer.line(`${result} = Object.hasOwn(${code}, ${key})`)
      writer.spend(1)
    },
    () => {
      const call = writer.param(implementation(name, overloads))
      const found = generator.writeOutside(`${call}(frame, [${key}, ${writer.param(view)}(${code})])`)
      writer.line(`${result} = ${generator.as('bool', found).code}`)
    },
  )
  return { code: result, shape: 'bool' }
}

const SIZES: ReadonlySet<string> = new Set(['size_list', 'list_size', 'size_string', 'string_size'])

function writeSize(
  generator: Generator,
  { overloads }: FunctionReference,
  [arg]: readonly Expr[],
): Operand | undefined {
  if (overloads.length !== 1 || !SIZES.has(overloads[0]!.id)) return undefined
  const { writer } = generator
  const operand = generator.write(arg!)
  const isText = generator.typeOf(arg!)?.kind === 'string'
  if (isText) {
    const text = generator.as('string', operand)
    writer.spend(1)
    return { code: writer.temp(`frame.budget.codePoints(${text.code})`), shape: 'int' }
  }
  if (typeof operand.shape === 'string' || operand.shape.kind !== 'list') {
    return generator.writeOutside(
      `${writer.param(implementation('size', overloads))}(frame, [${generator.valueOf(operand).code}])`,
    )
  }
  writer.spend(1)
  return { code: writer.temp(`${operand.code}.length`), shape: 'int' }
}

interface Written {
  readonly code: string
  /** True for arithmetic, which may leave the numbers that are exact. */
  readonly mayOverflow?: boolean
}

const DIRECT: Readonly<Record<string, (a: string, b: string) => Written>> = {
  less_int64: (a, b) => ({ code: `${a} < ${b}` }),
  less_equals_int64: (a, b) => ({ code: `${a} <= ${b}` }),
  greater_int64: (a, b) => ({ code: `${a} > ${b}` }),
  greater_equals_int64: (a, b) => ({ code: `${a} >= ${b}` }),
  equals: (a, b) => ({ code: `${a} === ${b}` }),
  not_equals: (a, b) => ({ code: `${a} !== ${b}` }),
  add_int64: (a, b) => ({ code: `${a} + ${b}`, mayOverflow: true }),
  subtract_int64: (a, b) => ({ code: `${a} - ${b}`, mayOverflow: true }),
  // Adding 0 turns -0 into 0.
  multiply_int64: (a, b) => ({ code: `${a} * ${b} + 0`, mayOverflow: true }),
  contains_string: (a, b) => ({ code: `${a}.includes(${b})` }),
  starts_with_string: (a, b) => ({ code: `${a}.startsWith(${b})` }),
  ends_with_string: (a, b) => ({ code: `${a}.endsWith(${b})` }),
}

/** The operations of direct-operators.ts. */
function writeDirect(
  generator: Generator,
  { overloads }: FunctionReference,
  args: readonly Expr[],
): Operand | undefined {
  const { writer } = generator
  const [only, ...others] = overloads
  if (only === undefined || others.length > 0) return undefined
  const types = args.map(arg => generator.typeOf(arg))
  if (only.id === 'logical_not' && types[0]?.kind === 'bool') {
    const { code } = generator.as('bool', generator.write(args[0]!))
    writer.spend(1)
    return { code: writer.temp(`!${code}`), shape: 'bool' }
  }
  if (args.length !== 2 || !directBinary(only, types)) return undefined
  const kind = types[0]!.kind as Primitive
  const [a, b] = args.map(arg => generator.as(kind, generator.write(arg))) as [Operand, Operand]
  return writeBinary(generator, only.id, kind, a, b)
}

type Primitive = 'int' | 'string' | 'bool'

/** An operation on two operands that must have this type. */
function writeBinary(generator: Generator, id: string, kind: Primitive, first: Operand, second: Operand): Operand {
  const { writer } = generator
  const [a, b] = [generator.as(kind, first), generator.as(kind, second)]
  if (kind === 'string') spendOnTexts(generator, id, a, b)
  else writer.spend(1)
  const { code, mayOverflow = false } = DIRECT[id]!(a.code, b.code)
  const result = writer.temp(code)
  if (mayOverflow) writer.giveUpIf(`!Number.isSafeInteger(${result})`)
  return { code: result, shape: mayOverflow ? 'int' : 'bool' }
}

/** The cost of operations on two texts; with a short constant it is simple code. */
function spendOnTexts({ writer }: Generator, id: string, a: Operand, b: Operand): void {
  const known = b.constant as string | undefined
  switch (id) {
    case 'equals':
    case 'not_equals':
      if (known === '') return
      if (known !== undefined && known.length <= 10) writer.spendCode(`${a.code}.length === 0 ? 0 : 1`)
      else {
        const cost = `${writer.param(pairCost)}(${a.code}, ${b.code}, frame.budget)`
        writer.spendCode(
          known === undefined ? cost : `${a.code} === ${b.code} ? ${textCost(known, new WorkBudget())} : ${cost}`,
        )
      }
      return
    case 'contains_string':
      writer.spendCode(`${writer.param(containsCost)}(${a.code}, ${b.code}, frame.budget)`)
      return
    default:
      writer.spendCode(`${writer.param(textCost)}(${a.code}, frame.budget)`)
  }
}
