// What a change of a schema means for those who write, for those who read, and for what is stored.

import { printJson } from '../../meta/go/go-text.js'
import { equalValues, type Value } from '../../meta/values/value.js'
import type { Schema } from '../../schema/structural.js'
import { childrenOf, type SchemaNode } from '../definitions.js'
import { type AddChange, WHY } from './change.js'

export function compareSchemas(old: SchemaNode, next: SchemaNode, add: AddChange): void {
  const { schema: a } = old
  const { schema: b } = next
  const name = next.field === '' ? 'the object' : next.field
  if (typeOf(a) !== typeOf(b)) {
    const message = `${name} was ${typeOf(a)} and is ${typeOf(b)}`
    for (const impact of ['writers', 'readers', 'stored'] as const)
      add(impact, `${next.at}.type`, message, WHY_TYPE[impact])
    return
  }
  compareUnknown(a, b, next, name, add)
  compareRequired(a, b, next, add)
  compareDefaults(a, b, next, name, add)
  compareValues(a, b, next, name, add)
  compareBounds(a, b, next, name, add)
  compareLists(a, b, next, name, add)
  compareRules(a, b, next, name, add)
  compareChildren(old, next, add)
}

const WHY_TYPE = {
  writers: WHY.refusesNew,
  readers: WHY.readers,
  stored: 'stored values are of the old type: they are invalid once they change, and CEL rules fail on them',
} as const

const typeOf = ({ type, extensions }: Schema): string =>
  extensions.intOrString ? 'an integer or a string' : type || 'anything'

function compareUnknown(a: Schema, b: Schema, { at }: SchemaNode, name: string, add: AddChange): void {
  const kept = a.extensions.preserveUnknownFields === true
  const keeps = b.extensions.preserveUnknownFields === true
  if (kept && !keeps) add('stored', at, `${name} no longer keeps unknown fields`, WHY.pruned)
  if (!kept && keeps) add('compatible', at, `${name} keeps unknown fields`, WHY.wider)
  if (a.nullable && !b.nullable) add('writers', at, `${name} must not be null any more`, WHY.ratcheted)
  if (!a.nullable && b.nullable) add('readers', at, `${name} may be null`, WHY.readers)
}

function compareRequired(a: Schema, b: Schema, node: SchemaNode, add: AddChange): void {
  for (const name of b.checks.required) {
    if (a.checks.required.includes(name)) continue
    const field = node.field === '' ? name : `${node.field}.${name}`
    if (b.properties.get(name)?.default !== undefined) {
      add(
        'compatible',
        `${node.at}.required`,
        `${field} is required and has a default`,
        'a field with a default is never missing',
      )
      continue
    }
    add('writers', `${node.at}.required`, `${field} is required`, WHY.refusesNew)
    add('stored', `${node.at}.required`, `${field} is required`, 'objects without it can be changed elsewhere only')
  }
  for (const name of a.checks.required) {
    if (b.checks.required.includes(name) || !b.properties.has(name)) continue
    const field = node.field === '' ? name : `${node.field}.${name}`
    add('readers', `${node.at}.required`, `${field} is no longer required`, 'clients that read it may miss it')
  }
}

function compareDefaults(a: Schema, b: Schema, { at }: SchemaNode, name: string, add: AddChange): void {
  if (equalValues(a.default, b.default)) return
  const place = `${at}.default`
  if (a.default === undefined) {
    add(
      'compatible',
      place,
      `${name} has the default ${shown(b.default!)}`,
      'objects without it are read with the default',
    )
  } else if (b.default === undefined) {
    add('readers', place, `${name} has no default any more`, 'objects that were stored without it are read without it')
  } else {
    const message = `the default of ${name} was ${shown(a.default)} and is ${shown(b.default)}`
    add('readers', place, message, 'objects that were stored without it are read with another value')
  }
}

function compareValues(a: Schema, b: Schema, { at }: SchemaNode, name: string, add: AddChange): void {
  const place = `${at}.enum`
  const had = a.checks.enum
  const has = b.checks.enum
  if (had.length === 0 && has.length > 0) {
    add('writers', place, `${name} must be one of ${has.map(shown).join(', ')}`, WHY.ratcheted)
  } else if (has.length === 0 && had.length > 0) {
    add('readers', place, `${name} may have any value`, WHY.readers)
  } else {
    const gone = had.filter(value => !has.some(each => equalValues(each, value)))
    const more = has.filter(value => !had.some(each => equalValues(each, value)))
    if (gone.length > 0)
      add('writers', place, `${name} must not be ${gone.map(shown).join(', ')} any more`, WHY.ratcheted)
    if (more.length > 0) add('readers', place, `${name} may be ${more.map(shown).join(', ')}`, WHY.readers)
  }
  for (const keyword of ['pattern', 'format'] as const) {
    const [before, after] = [a.checks[keyword], b.checks[keyword]]
    if (before === after) continue
    if (after === '') add('compatible', `${at}.${keyword}`, `${name} has no ${keyword} any more`, WHY.wider)
    else add('writers', `${at}.${keyword}`, `${name} has the ${keyword} ${after}`, WHY.ratcheted)
  }
}

const UPPER = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const
const LOWER = ['minimum', 'minLength', 'minItems', 'minProperties'] as const

function compareBounds(a: Schema, b: Schema, { at }: SchemaNode, name: string, add: AddChange): void {
  const compare = (keyword: (typeof UPPER)[number] | (typeof LOWER)[number], sign: 1 | -1): void => {
    const none = sign * Infinity
    const before = a.checks[keyword] ?? none
    const after = b.checks[keyword] ?? none
    if (before === after) return
    const message = Number.isFinite(after) ? `${keyword} of ${name} is ${after}` : `${name} has no ${keyword} any more`
    if (sign * after < sign * before) add('writers', `${at}.${keyword}`, message, WHY.ratcheted)
    else add('compatible', `${at}.${keyword}`, message, WHY.wider)
  }
  for (const keyword of UPPER) compare(keyword, 1)
  for (const keyword of LOWER) compare(keyword, -1)
}

function compareLists(a: Schema, b: Schema, { at }: SchemaNode, name: string, add: AddChange): void {
  if (a.type !== 'array') return
  const before = a.extensions.listType ?? 'atomic'
  const after = b.extensions.listType ?? 'atomic'
  const keys = b.extensions.listMapKeys.join(', ')
  const place = `${at}.x-kubernetes-list-type`
  if (before !== after || (after === 'map' && keys !== a.extensions.listMapKeys.join(', '))) {
    const message = `the list type of ${name} was ${before} and is ${after}${after === 'map' ? ` by ${keys}` : ''}`
    if (after === 'atomic') add('writers', place, message, 'an apply of some items replaces those of other managers')
    else add('writers', place, message, `items that repeat are refused, and the owners of items are counted anew`)
  }
}

function compareRules(a: Schema, b: Schema, { at }: SchemaNode, name: string, add: AddChange): void {
  const had = new Set(a.extensions.rules.map(({ rule }) => rule.trim()))
  const has = new Set(b.extensions.rules.map(({ rule }) => rule.trim()))
  for (const [i, { rule }] of b.extensions.rules.entries()) {
    if (had.has(rule.trim())) continue
    const isTransition = /\boldSelf\b/.test(rule)
    const why = isTransition ? 'changes that were accepted are refused' : WHY.ratcheted
    add('writers', `${at}.x-kubernetes-validations[${i}]`, `${name} has the rule ${rule.trim()}`, why)
  }
  for (const rule of had) {
    if (!has.has(rule)) add('compatible', at, `${name} no longer has the rule ${rule}`, WHY.wider)
  }
}

function compareChildren(old: SchemaNode, next: SchemaNode, add: AddChange): void {
  const before = childrenOf(old)
  const after = childrenOf(next)
  const keeps = next.schema.extensions.preserveUnknownFields === true
  for (const child of before) {
    const same = after.find(each => keyOf(each) === keyOf(child))
    if (same !== undefined) compareSchemas(child, same, add)
    else if (keeps) add('compatible', next.at, `${child.field} is no longer described`, 'unknown fields are kept')
    else {
      add('readers', next.at, `${child.field} is gone`, WHY.readers)
      add(
        'writers',
        next.at,
        `${child.field} is gone`,
        'it is dropped with a warning, and refused under strict field validation',
      )
      add('stored', next.at, `${child.field} is gone`, WHY.pruned)
    }
  }
  for (const child of after) {
    if (before.some(each => keyOf(each) === keyOf(child))) continue
    add(
      'compatible',
      child.at,
      `${child.field} is new`,
      'clients that do not know it drop it when they update an object',
    )
  }
}

const keyOf = ({ name, field }: SchemaNode): string => name || field

const shown = (value: Value): string => printJson(value)
