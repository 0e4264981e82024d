// What a field of a custom object may be, in one line, from its schema: the hint beside an error about it.

import { printJson } from '../../meta/go/go-text.js'
import type { Value } from '../../meta/values/value.js'
import { parseSchema, type Schema } from '../../schema/structural.js'
import type { Type } from '../../types/type.js'

/** Undefined if the schema says nothing that the message does not. */
export function describeField(root: Type, path: string, message: string): string | undefined {
  const written = root.written
  const schema = written === undefined ? undefined : schemaAt(parseSchema(written), path)
  if (schema === undefined) return undefined
  const broken = schema.extensions.rules.find(rule => message.endsWith(rule.message || `failed rule: ${rule.rule}`))
  if (broken !== undefined) return broken.message === '' ? undefined : `the rule is ${broken.rule.trim()}`
  if (path === '' || schema.extensions.rules.length > 0) return undefined
  const described = describeSchema(schema)
  const about = firstSentence(schema.description)
  if (described === '' && about === '') return undefined
  return [described === '' ? path : `${path} is ${described}`, about].filter(Boolean).join('; ')
}

export function schemaAt(root: Schema, path: string): Schema | undefined {
  let schema: Schema | undefined = root
  for (const [, name, key] of path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (schema === undefined) return undefined
    const member: Schema | undefined = name === undefined ? undefined : schema.properties.get(name)
    const more: Schema | undefined =
      typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
    schema = member ?? (key === undefined ? more : (schema.items ?? schema.properties.get(key) ?? more))
  }
  return schema
}

/** `an integer from 1 to 10`, `a string that matches ^a+$`, `one of "A", "B"`. */
export function describeSchema({ type, checks, extensions }: Schema): string {
  if (checks.enum.length > 0 && checks.enum.length <= 12) return `one of ${checks.enum.map(printValue).join(', ')}`
  const noun = extensions.intOrString ? 'an integer or a string' : NOUNS[type]
  if (noun === undefined) return ''
  const more: string[] = []
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = checks
  more.push(range(minimum, maximum, ''))
  more.push(range(minLength, maxLength, ' characters'), range(minItems, maxItems, ' items'))
  if (format !== '') more.push(`in the format ${format}`)
  if (pattern !== '') more.push(`that matches ${pattern}`)
  return [noun, ...more.filter(Boolean)].join(' ')
}

const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  if (from !== undefined && to !== undefined)
    return unit === '' ? `from ${from} to ${to}` : `of ${from} to ${to}${unit}`
  if (from !== undefined) return unit === '' ? `of at least ${from}` : `of at least ${from}${unit}`
  return to === undefined ? '' : `of at most ${to}${unit}`
}

const printValue = (value: Value): string => printJson(value)

const MAX_SENTENCE = 160

function firstSentence(description: string): string {
  const [sentence = ''] = description
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=\.)\s/)
  return sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE - 1)}…` : sentence
}
