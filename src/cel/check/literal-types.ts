// The types of literals.
import { Duration, Timestamp } from '../values/moments.js'
import { Double, Uint } from '../values/numbers.js'
import { BOOL, BYTES, type CelType, DOUBLE, DURATION, INT, NULL, STRING, TIMESTAMP, UINT } from './cel-type.js'

export function literalType(value: unknown): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'number':
    case 'bigint':
      return INT
    case 'string':
      return STRING
    default:
      if (value === null) return NULL
      if (value instanceof Uint) return UINT
      if (value instanceof Double) return DOUBLE
      if (value instanceof Timestamp) return TIMESTAMP
      return value instanceof Duration ? DURATION : BYTES
  }
}
