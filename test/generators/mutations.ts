// Small changes of values and of bytes: a request that was right becomes one that is a little wrong.
import { isObject, type Value, type ValueObject } from '../../src/meta/values/value.js'
import type { Random } from '../storage/history/random.js'
import { oddText } from './texts.js'

const ODD_VALUES: readonly Value[] = [null, true, 0, -1, 2 ** 53, 1e300, 0.1, '', [], {}, [[]], [null], { '': null }]

/** A copy with some places changed. */
export function mutateValue(random: Random, value: Value, changes = 1 + random.number(3)): Value {
  let mutated = structuredClone(value)
  for (let i = 0; i < changes; i++) mutated = mutateOnce(random, mutated, 0)
  return mutated
}

function mutateOnce(random: Random, value: Value, depth: number): Value {
  const goesDeeper = depth < 12 && random.chance(0.75)
  if (goesDeeper && Array.isArray(value) && value.length > 0) {
    const at = random.number(value.length)
    return value.map((item, i) => (i === at ? mutateOnce(random, item, depth + 1) : item))
  }
  if (goesDeeper && isObject(value) && Object.keys(value).length > 0) {
    const key = random.oneOf(Object.keys(value))
    return withMember(value, key, mutateOnce(random, value[key]!, depth + 1))
  }
  return replaced(random, value)
}

function replaced(random: Random, value: Value): Value {
  switch (random.number(8)) {
    case 0:
      return isObject(value) ? withMember(value, oddText(random), random.oneOf(ODD_VALUES)) : oddText(random)
    case 1:
      return nested(random, value)
    case 2:
      return Array.isArray(value) ? repeated(value[0] ?? {}, 1 + random.number(2_000)) : [value]
    case 3:
      return isObject(value) ? withoutMember(random, value) : oddText(random)
    case 4:
      return { a: value }
    case 5:
      return random.oneOf([0, -0, 1, -1, 2 ** 31, 2 ** 63, -(2 ** 63), 1e21, 1.5])
    case 6:
      return typeof value === 'string' ? value + oddText(random) : oddText(random)
    default:
      return random.oneOf(ODD_VALUES)
  }
}

/** Copies of a value may be copied again: three such changes would make thousands of millions of values. */
const MAX_REPEATED_WEIGHT = 2 ** 20

const repeated = (item: Value, count: number): Value =>
  Array.from({ length: Math.max(1, Math.min(count, Math.floor(MAX_REPEATED_WEIGHT / weightOf(item)))) }, () => item)

/** About how long the value is as text. What is over the limit is not counted. */
function weightOf(value: Value): number {
  let weight = 0
  const stack: Value[] = [value]
  while (stack.length > 0 && weight < MAX_REPEATED_WEIGHT) {
    const next = stack.pop()!
    weight += typeof next === 'string' ? next.length + 2 : 4
    if (Array.isArray(next)) for (const item of next) stack.push(item)
    else if (isObject(next)) for (const [key, member] of Object.entries(next)) stack.push(key, member)
  }
  return weight
}

function nested(random: Random, value: Value): Value {
  let inner = value
  for (let depth = random.oneOf([3, 50, 500, 2_000]); depth > 0; depth--)
    inner = random.chance(0.5) ? [inner] : { a: inner }
  return inner
}

/** Also for `__proto__`, which an assignment would not set. */
function withMember(object: ValueObject, key: string, member: Value): ValueObject {
  return Object.fromEntries([...Object.entries(object), [key, member]])
}

function withoutMember(random: Random, object: ValueObject): ValueObject {
  const keys = Object.keys(object)
  if (keys.length === 0) return object
  const gone = random.oneOf(keys)
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== gone))
}

/** Bytes with some of them changed, left out, repeated or cut off. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return Buffer.from([random.number(256)])
  const at = random.number(bytes.length)
  switch (random.number(5)) {
    case 0:
      return bytes.subarray(0, at)
    case 1: {
      const changed = Buffer.from(bytes)
      for (let i = 0; i < 1 + random.number(4); i++) changed[random.number(changed.length)] = random.number(256)
      return changed
    }
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.number(8))])
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 20), at), bytes.subarray(at)])
    default:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(oddText(random)), bytes.subarray(at)])
  }
}
