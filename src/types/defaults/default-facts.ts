// Defaults that the type table states as facts: `protocol: TCP` of a port, wherever a port stands. Compiled once for
// each type into a walk that goes only where there is something to fill in.
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { TypeRef, TypeTable } from '../type-table.js'

/** Fills in an object of that type. */
export function applyDefaultFacts(table: TypeTable, typeName: string, object: ValueObject): void {
  walkOf(table, typeName)?.(object)
}

type Walk = (value: Value) => void

const compiled = new WeakMap<TypeTable, Map<string, Walk | undefined>>()

function walkOf(table: TypeTable, typeName: string): Walk | undefined {
  let walks = compiled.get(table)
  if (walks === undefined) compiled.set(table, (walks = new Map<string, Walk | undefined>()))
  if (walks.has(typeName)) return walks.get(typeName)
  // A type within itself finds nothing to do in the inner one; no such type has defaults.
  walks.set(typeName, undefined)
  const walk = compile(table, typeName)
  walks.set(typeName, walk)
  return walk
}

function compile(table: TypeTable, typeName: string): Walk | undefined {
  const steps: ((object: ValueObject) => void)[] = []
  for (const { name, type, facts } of table.type(typeName).fields) {
    const { default: value, pointer } = facts
    if (value !== undefined && (pointer === true || (value !== 0 && value !== false && value !== ''))) {
      steps.push(object => {
        if (!Object.hasOwn(object, name) || object[name] === null) object[name] = value
      })
    }
    const inner = walkInto(table, type)
    if (inner !== undefined) {
      steps.push(object => {
        const member = Object.hasOwn(object, name) ? object[name] : undefined
        if (member !== undefined && member !== null) inner(member)
      })
    }
  }
  if (steps.length === 0) return undefined
  return value => {
    if (isObject(value)) for (const step of steps) step(value)
  }
}

function walkInto(table: TypeTable, type: TypeRef): Walk | undefined {
  switch (type.is) {
    case 'type':
      return walkOf(table, type.name)
    case 'list': {
      const item = walkInto(table, type.of)
      return item && (value => (Array.isArray(value) ? value.forEach(item) : undefined))
    }
    case 'map': {
      const item = walkInto(table, type.of)
      return item && (value => (isObject(value) ? Object.values(value).forEach(item) : undefined))
    }
    default:
      return undefined
  }
}
