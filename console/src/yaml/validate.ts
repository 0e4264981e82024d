// Checks a value against the schema while one types. The server decides; this finds most mistakes without asking it.
// Patterns are left to the server: one that someone else wrote could keep the browser's engine busy for ever.
import { isFloat, isInteger, isNumber, isObject, type Value, WholeFloat } from '../../../src/meta/values/value.js'
import type { KindSchema, Schema } from '../api/openapi.js'
import { memberOf, typeName } from './schema-walk.js'
import type { Path } from './yaml-document.js'

export interface Problem {
  readonly path: Path
  readonly message: string
}

const MAX_PROBLEMS = 100

export function validate(value: Value, { root, resolve }: KindSchema): readonly Problem[] {
  const problems: Problem[] = []
  const add = (path: Path, message: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ path, message })
  }
  const visit = (item: Value, schema: Schema, path: Path): void => {
    if (item === null) return
    if (!hasType(item, schema)) {
      add(path, `must be ${article(typeName(schema, resolve))}, not ${article(nameOf(item))}`)
      return
    }
    checkLimits(item, schema, message => add(path, message))
    if (Array.isArray(item)) {
      const { items } = schema
      if (items !== undefined) for (const [index, each] of item.entries()) visit(each, resolve(items), [...path, index])
    } else if (isObject(item)) visitObject(item, schema, path)
  }
  const visitObject = (item: Record<string, Value>, schema: Schema, path: Path): void => {
    for (const name of schema.required ?? []) if (!Object.hasOwn(item, name)) add(path, `needs the field ${name}`)
    const isClosed =
      schema.properties !== undefined &&
      schema.additionalProperties === undefined &&
      schema['x-kubernetes-preserve-unknown-fields'] !== true
    for (const [name, each] of Object.entries(item)) {
      const member = memberOf(schema, name)
      if (member !== undefined) visit(each, resolve(member), [...path, name])
      else if (isClosed) add([...path, name], `unknown field ${name}`)
    }
  }
  visit(value, resolve(root), [])
  return problems
}

function hasType(value: Value, schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') {
    return typeof value === 'string' || isInteger(value)
  }
  switch (schema.type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'string':
      return typeof value === 'string'
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return isInteger(value) || value instanceof WholeFloat
    case 'number':
      return isNumber(value)
    default:
      return true
  }
}

function checkLimits(value: Value, schema: Schema, add: (message: string) => void): void {
  if (schema.enum !== undefined && !schema.enum.some(each => each === value)) {
    add(`must be one of ${schema.enum.map(each => JSON.stringify(each)).join(', ')}`)
  }
  if (isNumber(value)) {
    const number = value instanceof WholeFloat ? value.value : Number(value)
    if (schema.minimum !== undefined && number < schema.minimum) add(`must be ${schema.minimum} or more`)
    if (schema.maximum !== undefined && number > schema.maximum) add(`must be ${schema.maximum} or less`)
  }
  const length = typeof value === 'string' || Array.isArray(value) ? value.length : undefined
  const least = typeof value === 'string' ? schema.minLength : schema.minItems
  const most = typeof value === 'string' ? schema.maxLength : schema.maxItems
  const unit = typeof value === 'string' ? 'characters' : 'items'
  if (length !== undefined && least !== undefined && length < least) add(`must have ${least} or more ${unit}`)
  if (length !== undefined && most !== undefined && length > most) add(`must have at most ${most} ${unit}`)
}

function nameOf(value: Value): string {
  if (Array.isArray(value)) return 'list'
  if (isObject(value)) return 'object'
  if (isInteger(value)) return 'integer'
  return isFloat(value) ? 'number' : typeof value
}

const article = (noun: string): string =>
  noun.startsWith('[]') || noun.startsWith('map') ? noun : `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
