// Which checks of the schemas some case has broken: required fields, enums, bounds, patterns, formats and rules. A check
// that no case breaks may be wrong without a test that fails.

import type { VersionedKind } from '../../kinds/registry.js'
import type { Status, StatusCause } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { compileRules, evaluateRules, RuleCompiler, type RuleNode } from '../../schema/rules.js'
import type { Schema } from '../../schema/structural.js'
import { nameOfKind, nodeAt, nodesBelow, type SchemaNode, type VersionSchema } from '../definitions.js'
import { type Document } from '../documents.js'
import { type Finding, findingAt } from '../findings.js'

export interface Coverage {
  /** What a case has broken: `status` is the refusal of `object`. */
  add(of: VersionedKind, object: ValueObject, old: ApiObject | undefined, status: Status | undefined): void
  neverBroken(): readonly Finding[]
  counts(): { readonly broken: number; readonly checks: number }
}

export interface CoveredSchema extends VersionSchema {
  readonly document: Document
  readonly definition: ApiObject
}

interface Check {
  /** Its place in the definition. */
  readonly at: string
  readonly what: string
  readonly subject: CoveredSchema
}

export function createCoverage(schemas: readonly CoveredSchema[]): Coverage {
  const checks = schemas.flatMap(subject => [...nodesBelow(subject.root)].flatMap(node => checksOf(node, subject)))
  const broken = new Set<string>()
  const placesOf = schemas.map(subject => ({
    subject,
    rules: compileRules(subject.root.schema, new RuleCompiler()),
    places: new Map([...nodesBelow(subject.root)].map((node): [Schema, SchemaNode] => [node.schema, node])),
  }))

  return {
    add({ kind, version }, object, old, status) {
      const found = placesOf.find(
        ({ subject }) =>
          subject.version.name === version.name &&
          nameOfKind(subject.definition) === `${kind.names.kind}.${kind.group}`,
      )
      if (found === undefined) return
      const { root } = found.subject
      for (const cause of status?.details?.causes ?? []) {
        const at = brokenBy(root, cause)
        if (at !== undefined) broken.add(keyOf(found.subject, at))
      }
      if (found.rules === undefined) return
      for (const [schema, index] of failedRules(
        found.rules,
        version.strategy.applyDefaults(object as ApiObject),
        old,
      )) {
        const node = found.places.get(schema)
        if (node) broken.add(keyOf(found.subject, `${node.at}.x-kubernetes-validations[${index}]`))
      }
    },
    neverBroken: () =>
      checks
        .filter(({ at, subject }) => !broken.has(keyOf(subject, at)))
        .map(({ at, what, subject }) =>
          findingAt(subject.document, at, {
            rule: 'never-broken',
            severity: 'note',
            message: `no case breaks ${what}`,
            hint: 'add a case that is refused because of it',
            object: `${nameOfKind(subject.definition)} ${subject.version.name}`,
          }),
        ),
    counts: () => ({
      broken: checks.filter(({ at, subject }) => broken.has(keyOf(subject, at))).length,
      checks: checks.length,
    }),
  }
}

const keyOf = ({ definition }: CoveredSchema, at: string): string => `${nameOfKind(definition)} ${at}`

const BOUNDS = [
  'maximum',
  'minimum',
  'multipleOf',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
] as const

function checksOf({ schema, at, field }: SchemaNode, subject: CoveredSchema): readonly Check[] {
  const { checks, extensions } = schema
  const shown = field === '' ? 'the object' : field
  const found: Check[] = []
  const add = (place: string, what: string): void => void found.push({ at: `${at}.${place}`, what, subject })
  for (const [i, name] of checks.required.entries())
    add(`required[${i}]`, `required ${field === '' ? name : `${field}.${name}`}`)
  if (checks.enum.length > 0) add('enum', `the enum of ${shown}`)
  for (const keyword of BOUNDS) if (checks[keyword] !== undefined) add(keyword, `${keyword} of ${shown}`)
  if (checks.pattern !== '') add('pattern', `the pattern of ${shown}`)
  for (const [i, { rule }] of extensions.rules.entries())
    add(`x-kubernetes-validations[${i}]`, `the rule ${rule.trim()} of ${shown}`)
  return found
}

/** The keyword that a message of the server is about. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/should be less than/, 'maximum'],
  [/should be greater than/, 'minimum'],
  [/should be a multiple of/, 'multipleOf'],
  [/should be at most \d+ chars? long|may not be more than \d+ bytes?/, 'maxLength'],
  [/should be at least \d+ chars? long/, 'minLength'],
  [/should have at most \d+ items|must have at most \d+ items?/, 'maxItems'],
  [/should have at least \d+ items/, 'minItems'],
  [/should have at most \d+ properties/, 'maxProperties'],
  [/should have at least \d+ properties/, 'minProperties'],
  [/should match/, 'pattern'],
]

function brokenBy(root: SchemaNode, { field = '', reason, message = '' }: StatusCause): string | undefined {
  if (reason === 'FieldValueRequired') {
    const at = field.lastIndexOf('.')
    const parent = nodeAt(root, at === -1 ? '' : field.slice(0, at))
    const index = parent?.schema.checks.required.indexOf(field.slice(at + 1)) ?? -1
    return index === -1 ? undefined : `${parent!.at}.required[${index}]`
  }
  const node = nodeAt(root, field === '<nil>' ? '' : field)
  if (node === undefined) return undefined
  if (reason === 'FieldValueNotSupported') return `${node.at}.enum`
  const [, keyword] = MESSAGES.find(([pattern]) => pattern.test(message)) ?? []
  if (keyword === 'maxItems' && node.schema.checks.maxItems === undefined) return `${node.at}.maxProperties`
  return keyword === undefined ? undefined : `${node.at}.${keyword}`
}

/** The rules that fail for an object: their nodes, and their numbers. */
function failedRules(
  root: RuleNode,
  object: ApiObject,
  old: ApiObject | undefined,
): readonly (readonly [Schema, number])[] {
  const failed: [Schema, number][] = []
  const places = new Map<unknown, [Schema, number]>()
  const visit = (node: RuleNode): void => {
    for (const [i, rule] of node.rules.entries()) places.set(rule, [node.schema, i])
    for (const child of node.properties.values()) visit(child)
    if (node.items) visit(node.items)
    if (node.additionalProperties) visit(node.additionalProperties)
  }
  visit(root)
  evaluateRules(root, object, old, ({ compiled, errors }) => {
    const place = places.get(compiled)
    if (place && errors.length > 0) failed.push(place)
  })
  return failed
}
