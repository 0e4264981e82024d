// The macros that iterate, as loops: all, exists, exists_one, filter and map with one variable.

import { ACCUMULATOR, type CallExpr, type ComprehensionExpr, type Expr, OPERATORS } from '../../syntax/syntax-tree.js'
import { isList, itemAt, MapValue, sizeOfList, type Value } from '../../values/values.js'
import { LIST_COST } from '../frame.js'
import { type CompoundLayout, isDynamic, type Layout } from '../layout.js'
import { quantifierOf } from '../quantifiers.js'
import { type Generator, NotWritten } from './generator.js'
import type { Operand, Shape } from './writer.js'

export function writeLoop(generator: Generator, expr: ComprehensionExpr): Operand {
  if (expr.iterVar2 !== undefined || expr.accuVar !== ACCUMULATOR) throw new NotWritten()
  const decides = quantifierOf(expr)
  if (decides !== undefined) return writeQuantifier(generator, expr, decides)
  const step = stepOf(expr)
  if (step === undefined) throw new NotWritten()
  return step.counts ? writeCount(generator, expr, step) : writeList(generator, expr, step)
}

/** all() and exists(); the cost of a turn is that of loops.ts. */
function writeQuantifier(generator: Generator, expr: ComprehensionExpr, decides: boolean): Operand {
  const { writer } = generator
  const conditionCost = decides ? 3 : 2
  const result = writer.name()
  writer.line(`let ${result} = ${!decides}`)
  iterate(generator, expr, ({ isLast }) => {
    writer.spend(conditionCost + 1)
    const holds = generator.as('bool', generator.write((expr.step as CallExpr).args[1]!))
    writer.block(`if (${decides ? '' : '!'}${holds.code})`, () => {
      writer.line(`${result} = ${decides}`)
      // Only the turn after this one finds out that all is decided.
      writer.line(`if (!(${isLast})) c += ${conditionCost}`)
      writer.line('break')
    })
  })
  writer.spend(1)
  return { code: result, shape: 'bool' }
}

/** exists_one(): `accumulator + 1` costs 2 for each that holds, `accumulator == 1` as much in the end. */
function writeCount(generator: Generator, expr: ComprehensionExpr, { condition }: Step): Operand {
  const { writer } = generator
  const count = writer.name()
  writer.line(`let ${count} = 0`)
  iterate(generator, expr, () => {
    const holds = generator.as('bool', generator.write(condition!))
    writer.block(`if (${holds.code})`, () => {
      writer.line(`${count}++`)
      writer.spend(2)
    })
  })
  writer.spend(2)
  return { code: writer.temp(`${count} === 1`), shape: 'bool' }
}

/** filter() and map(). A list of what lies behind views is of the layout of a list, too. */
function writeList(generator: Generator, expr: ComprehensionExpr, { condition, item }: Step): Operand {
  const { writer } = generator
  const list = writer.name()
  let shape: Shape = 'value'
  writer.line(`const ${list} = []`)
  iterate(generator, expr, () => {
    const append = (): void => {
      const added = generator.write(item!)
      writer.spend(added.constant === undefined ? 2 + LIST_COST : 2)
      // A list of anything is anything.
      if (typeof added.shape !== 'string') shape = isDynamic(added.shape) ? added.shape : listOf(added.shape)
      writer.line(`${list}.push(${added.code})`)
    }
    if (condition === undefined) append()
    else writer.block(`if (${generator.as('bool', generator.write(condition)).code})`, append)
  })
  writer.spend(1)
  return { code: list, shape }
}

/** Such a list has no view, so that it cannot be passed on as a value. */
const listOf = (element: Layout): CompoundLayout => ({
  kind: 'list',
  fits: () => true,
  behind: () => undefined,
  field: () => undefined,
  element: () => element,
})

// ---- turns

interface Turn {
  /** Code that says whether no other turn follows. */
  readonly isLast: string
}

function iterate(generator: Generator, { range, iterVar }: ComprehensionExpr, body: (turn: Turn) => void): void {
  const { writer } = generator
  const type = generator.typeOf(range)?.kind
  const [i, size] = [writer.name(), writer.name()]
  const loop = (item: () => Operand): void =>
    writer.block(`for (let ${i} = 0; ${i} < ${size}; ${i}++)`, () => {
      writer.giveUpIf('c > frame.limit')
      generator.within(iterVar, item(), () => body({ isLast: `${i} + 1 === ${size}` }))
    })
  if (type === 'map') {
    const over = generator.writeValue(range)
    writer.giveUpIf(`!(${over.code} instanceof ${writer.param(MapValue)})`)
    const keys = writer.temp(`${writer.param(keysOf)}(${over.code})`)
    writer.line(`const ${size} = ${keys}.length`)
    return loop(() => generator.notAnError(`${keys}[${i}]`))
  }
  if (type !== 'list' && type !== 'dyn') throw new NotWritten()
  const over = generator.write(range)
  const { code, shape } = over
  if (isDynamic(shape)) {
    // The keys of a map are values of the same layout as the elements of a list.
    const items = writer.temp(
      `Array.isArray(${code}) ? ${code} : ${writer.param(shape.isMap)}(${code}) ? Object.keys(${code}) : undefined`,
    )
    writer.giveUpIf(`${items} === undefined`)
    writer.line(`const ${size} = ${items}.length`)
    return loop(() => generator.look(writer.temp(`${items}[${i}]`), shape))
  }
  if (type !== 'list') throw new NotWritten()
  if (typeof shape !== 'string') {
    writer.line(`const ${size} = ${code}.length`)
    return loop(() => generator.look(writer.temp(`${code}[${i}]`), (shape as CompoundLayout).element()))
  }
  writer.giveUpIf(`!${writer.param(isList)}(${code})`)
  writer.line(`const ${size} = ${writer.param(sizeOfList)}(${code})`)
  loop(() => generator.notAnError(`${writer.param(itemAt)}(${code}, ${i})`))
}

function keysOf(map: MapValue): readonly Value[] {
  const keys = map.keys()
  return Array.isArray(keys) ? (keys as readonly Value[]) : Array.from(keys)
}

// ---- what a step does

interface Step {
  /** True for `accumulator + 1`. */
  readonly counts: boolean
  readonly condition: Expr | undefined
  /** What is added to a list. */
  readonly item: Expr | undefined
}

/** The step of exists_one, filter or map. */
function stepOf({ init, condition, step, result }: ComprehensionExpr): Step | undefined {
  if (condition.kind !== 'literal' || condition.value !== true) return undefined
  const isConditional = step.kind === 'call' && step.name === OPERATORS.conditional
  if (isConditional && !isAccumulator(step.args[2]!)) return undefined
  const requested = isConditional ? step.args[0]! : undefined
  const addition = isConditional ? step.args[1]! : step
  if (addition.kind !== 'call' || addition.name !== OPERATORS.add || !isAccumulator(addition.args[0]!)) return undefined
  const added = addition.args[1]!
  if (init.kind === 'literal') {
    const isCount = init.value === 0 && added.kind === 'literal' && added.value === 1 && requested !== undefined
    return isCount && isOne(result) ? { counts: true, condition: requested, item: undefined } : undefined
  }
  if (init.kind !== 'list' || init.elements.length > 0 || !isAccumulator(result)) return undefined
  if (added.kind !== 'list' || added.elements.length !== 1 || added.optional.length > 0) return undefined
  return { counts: false, condition: requested, item: added.elements[0] }
}

const isAccumulator = (expr: Expr): boolean => expr.kind === 'ident' && expr.name === ACCUMULATOR

const isOne = (expr: Expr): boolean =>
  expr.kind === 'call' &&
  expr.name === OPERATORS.equals &&
  isAccumulator(expr.args[0]!) &&
  expr.args[1]?.kind === 'literal' &&
  expr.args[1].value === 1
