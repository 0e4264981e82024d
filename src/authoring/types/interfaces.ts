// The types of one kind: an interface for each object of its schema, with descriptions as comments.

import { printJson } from '../../meta/go/go-text.js'
import type { Schema } from '../../schema/structural.js'

export interface TypedKind {
  readonly type: string
  readonly kind: string
  readonly plural: string
  readonly group: string
  readonly version: string
  readonly namespaced: boolean
  readonly schema: Schema
}

/** Names of types, each given once. */
export interface TypeNames {
  take(name: string): string
}

export function createTypeNames(): TypeNames {
  const taken = new Set(['ObjectMeta', 'KubernetesList', 'CustomObjects', 'ResourceClient', 'CustomKinds'])
  return {
    take(name) {
      const base = identifierOf(name)
      let free = base
      for (let i = 2; taken.has(free); i++) free = `${base}${i}`
      taken.add(free)
      return free
    },
  }
}

function identifierOf(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const joined = words.map(word => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(joined) ? joined : `Type${joined}`
}

export function printTypes({ type, kind, group, version, schema }: TypedKind, names: TypeNames): string {
  const done: string[] = []
  const context: Context = { names, done }
  const members = [
    `  apiVersion: ${quoted(`${group}/${version}`)}`,
    `  kind: ${quoted(kind)}`,
    '  metadata: ObjectMeta',
    ...[...schema.properties]
      .filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name))
      .map(([name, property]) => printMember(name, property, schema, type, context)),
  ]
  const root = `${comment(schema.description, '')}export interface ${type} {\n${members.join('\n')}\n}`
  return [root, ...done].join('\n\n')
}

interface Context {
  readonly names: TypeNames
  readonly done: string[]
}

function printMember(name: string, property: Schema, parent: Schema, owner: string, context: Context): string {
  const isRequired = parent.checks.required.includes(name) && property.default === undefined
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
  const type = typeOf(property, `${owner}${identifierOf(name)}`, context)
  return `${comment(property.description, '  ')}  ${key}${isRequired ? '' : '?'}: ${type}`
}

function typeOf(schema: Schema, name: string, context: Context): string {
  const { nullable } = schema
  const type = plainTypeOf(schema, name, context)
  return nullable && type !== 'unknown' ? `${type} | null` : type
}

function plainTypeOf(schema: Schema, name: string, context: Context): string {
  const { type, checks, extensions, items, additionalProperties } = schema
  if (checks.enum.length > 0) return checks.enum.map(value => printJson(value)).join(' | ')
  if (extensions.intOrString) return 'number | string'
  switch (type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array': {
      const item = items === undefined ? 'unknown' : typeOf(items, `${name}Item`, context)
      return /[ |&]/.test(item) ? `(${item})[]` : `${item}[]`
    }
    case 'object':
      if (schema.properties.size > 0) return printObject(schema, name, context)
      if (typeof additionalProperties === 'object')
        return `Record<string, ${typeOf(additionalProperties, `${name}Value`, context)}>`
      return 'Record<string, unknown>'
    default:
      return 'unknown'
  }
}

/** An object gets an interface of its own; the alternatives of a oneOf make a union of it. */
function printObject(schema: Schema, wanted: string, context: Context): string {
  const name = context.names.take(wanted)
  const members = [...schema.properties].map(([key, property]) => printMember(key, property, schema, name, context))
  if (schema.extensions.preserveUnknownFields) members.push('  [key: string]: unknown')
  const choices = alternativesOf(schema)
  if (choices === undefined) {
    context.done.push(`${comment(schema.description, '')}export interface ${name} {\n${members.join('\n')}\n}`)
    return name
  }
  const fields = context.names.take(`${name}Fields`)
  context.done.push(`export interface ${fields} {\n${members.join('\n')}\n}`)
  const union = choices.map(own => {
    const others = [...new Set(choices.flat())].filter(each => !own.includes(each))
    const needed = own.map(key => `${quoted(key)}: NonNullable<${fields}[${quoted(key)}]>`)
    return `  | { ${[...needed, ...others.map(key => `${quoted(key)}?: never`)].join('; ')} }`
  })
  context.done.push(`${comment(schema.description, '')}export type ${name} = ${fields} & (\n${union.join('\n')}\n)`)
  return name
}

/** The fields that each alternative requires, if the alternatives say nothing else. */
function alternativesOf({ checks, properties, extensions }: Schema): readonly (readonly string[])[] | undefined {
  const { oneOf } = checks
  if (oneOf.length < 2 || extensions.preserveUnknownFields) return undefined
  const required = oneOf.map(each => each.checks.required)
  const isPlain = oneOf.every(
    each => each.checks.not === undefined && each.checks.anyOf.length === 0 && each.checks.allOf.length === 0,
  )
  return isPlain && required.every(names => names.length > 0 && names.every(name => properties.has(name)))
    ? required
    : undefined
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`

/** A description as a comment; nothing in it can end the comment. */
function comment(description: string, indent: string): string {
  const text = description.trim().replaceAll('*/', '*\\/')
  if (text === '') return ''
  const lines = text.split('\n').map(line => line.trimEnd())
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map(line => `${indent} *${line === '' ? '' : ` ${line}`}\n`).join('')}${indent} */\n`
}
