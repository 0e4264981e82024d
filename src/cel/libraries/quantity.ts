// Amounts of resources: quantity('1.5Gi').
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityAsFloat,
  quantityAsInt64,
  quantityOf,
  signOf,
  subtractQuantities,
} from '../../meta/values/quantity.js'
import { CelError } from '../cel-error.js'
import { BOOL, type CelType, DOUBLE, INT, objectType, STRING } from '../check/cel-type.js'
import { ONE, STRING_TRAVERSAL, traversal } from '../cost/cost-intervals.js'
import type { FunctionDeclaration, Library, Overload } from '../environment.js'
import { Double, type Int, intOf } from '../values/numbers.js'
import { costSize, OpaqueValue, type Value } from '../values/values.js'

const QUANTITY_TYPE = objectType('kubernetes.Quantity')

class QuantityValue extends OpaqueValue {
  readonly type = QUANTITY_TYPE
  constructor(
    readonly quantity: Quantity,
    /** kube-apiserver has sums as pointers, which its equality does not know. */
    override readonly isNoRightOperand: boolean = false,
  ) {
    super()
  }
  equals(other: Value): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0
  }
}

const quantity = (value: Value | undefined): Quantity => (value as QuantityValue).quantity

/** The text is read once. */
const readCost: Pick<Overload, 'cost' | 'estimate'> = {
  cost: ([text], budget) => Math.ceil(costSize(text!, budget) * STRING_TRAVERSAL),
  estimate: ({ args: [text] }) => ({ cost: traversal(text!.size) }),
}

const ask = (name: string, id: string, result: CelType, read: (quantity: Quantity) => Value): FunctionDeclaration => ({
  name,
  overloads: [{ id, member: true, params: [QUANTITY_TYPE], result, call: value => read(quantity(value)) }],
})

const compare = (name: string, id: string, result: CelType, read: (order: number) => Value): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id,
      member: true,
      params: [QUANTITY_TYPE, QUANTITY_TYPE],
      result,
      call: (a, b) => read(compareQuantities(quantity(a), quantity(b))),
    },
  ],
})

const combine = (name: string, with_: (a: Quantity, b: Quantity) => Quantity): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id: `quantity_${name}`,
      member: true,
      params: [QUANTITY_TYPE, QUANTITY_TYPE],
      result: QUANTITY_TYPE,
      call: (a, b) => new QuantityValue(with_(quantity(a), quantity(b)), true),
    },
    {
      id: `quantity_${name}_int`,
      member: true,
      params: [QUANTITY_TYPE, INT],
      result: QUANTITY_TYPE,
      call: (a, b) => new QuantityValue(with_(quantity(a), quantityOf(BigInt(b as Int))), true),
    },
  ],
})

export const QUANTITY_LIBRARY: Library = {
  equalityCosts: { [QUANTITY_TYPE.name]: () => ONE },
  functions: [
    {
      name: 'quantity',
      overloads: [
        {
          id: 'string_to_quantity',
          params: [STRING],
          result: QUANTITY_TYPE,
          call: text => {
            const read = parseQuantity(text as string)
            return read.ok ? new QuantityValue(read.value) : new CelError(read.error)
          },
          ...readCost,
        },
      ],
    },
    {
      name: 'isQuantity',
      overloads: [
        {
          id: 'is_quantity_string',
          params: [STRING],
          result: BOOL,
          call: text => parseQuantity(text as string).ok,
          ...readCost,
        },
      ],
    },
    {
      name: 'sign',
      overloads: [
        { id: 'quantity_sign', params: [QUANTITY_TYPE], result: INT, call: value => signOf(quantity(value)) },
      ],
    },
    compare('isGreaterThan', 'quantity_is_greater_than', BOOL, order => order > 0),
    compare('isLessThan', 'quantity_is_less_than', BOOL, order => order < 0),
    compare('compareTo', 'quantity_compare_to', INT, order => Math.sign(order)),
    ask('asApproximateFloat', 'quantity_get_float', DOUBLE, value => new Double(quantityAsFloat(value))),
    ask('asInteger', 'quantity_get_int', INT, value => {
      const int = quantityAsInt64(value)
      return int === undefined ? new CelError('cannot convert value to integer') : intOf(int)
    }),
    ask('isInteger', 'quantity_is_integer', BOOL, value => quantityAsInt64(value) !== undefined),
    combine('add', addQuantities),
    combine('sub', subtractQuantities),
  ],
}
