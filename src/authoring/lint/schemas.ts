// Lint of schemas: lists, defaults, patterns, unknown fields.

import { nodesBelow, type SchemaNode } from '../definitions.js'
import type { LintRule, LintSubject } from './lint-rule.js'

function* allNodes({ schemas }: LintSubject): Generator<SchemaNode> {
  for (const { root } of schemas) yield* nodesBelow(root)
}

export const schemaRules: readonly LintRule[] = [
  {
    name: 'list-type-missing',
    severity: 'warning',
    reason:
      'Without a list type, server-side apply replaces the whole list, so that two managers cannot each own items.',
    check(subject, report) {
      for (const { schema, at, field } of allNodes(subject)) {
        if (schema.type !== 'array' || schema.extensions.listType !== undefined) continue
        const isList = schema.items?.type === 'object'
        const key = isList ? keyOf(schema.items.properties) : undefined
        const hint = isList
          ? key === undefined
            ? 'add x-kubernetes-list-type: atomic, or map with the fields that identify an item'
            : `add x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [${key}], or x-kubernetes-list-type: atomic`
          : 'add x-kubernetes-list-type: set if values must not repeat, or atomic'
        report(at, `${field} has no x-kubernetes-list-type`, hint)
      }
    },
  },
  {
    name: 'default-needs-parent',
    severity: 'warning',
    reason: 'A default is set only where the object around it exists.',
    check(subject, report) {
      for (const node of allNodes(subject)) {
        const { schema, parent, at, field } = node
        if (schema.default === undefined || parent === undefined || parent.name === '' || parent.parent === undefined)
          continue
        if (parent.schema.default !== undefined || parent.isRequired) continue
        const message = `the default of ${field} is not set where ${parent.field} is left out`
        report(`${at}.default`, message, `add default: {} to ${parent.field}, or make it required`)
      }
    },
  },
  {
    name: 'default-of-required',
    severity: 'note',
    reason: 'A field with a default is never missing, so that requiring it says nothing.',
    hint: 'drop the default, or do not require the field',
    check(subject, report) {
      for (const { schema, isRequired, name, at, field } of allNodes(subject)) {
        if (name !== '' && isRequired && schema.default !== undefined)
          report(`${at}.default`, `${field} is required and has a default`)
      }
    },
  },
  {
    name: 'pattern-not-anchored',
    severity: 'warning',
    reason: 'A pattern without anchors holds for every text that contains a match.',
    check(subject, report) {
      for (const { schema, at, field } of allNodes(subject)) {
        const { pattern } = schema.checks
        if (pattern === '' || /^\(?[\^]|\\A|\$\)?$|\\z$/.test(pattern)) continue
        report(
          `${at}.pattern`,
          `the pattern of ${field} holds for every text that contains a match`,
          `write ^(?:${pattern})$`,
        )
      }
    },
  },
  {
    name: 'unknown-fields-kept',
    severity: 'warning',
    reason: 'Where unknown fields are kept, misspelt fields are stored and never reported.',
    hint: 'describe the fields, or keep unknown ones only where they are meant to be free',
    check(subject, report) {
      for (const { schema, at, field, name } of allNodes(subject)) {
        const keepsAll = schema.extensions.preserveUnknownFields === true && schema.properties.size === 0
        const isBroad = field === '' || name === 'spec'
        if (isBroad && keepsAll) report(at, `${field === '' ? 'the object' : field} keeps all unknown fields`)
      }
    },
  },
  {
    name: 'float',
    severity: 'warning',
    reason:
      'Floats change on their way through languages and formats; the API conventions ask for integers or quantities.',
    hint: 'use an integer in a smaller unit, or a quantity as a string',
    check(subject, report) {
      for (const { schema, at, field } of allNodes(subject)) {
        if (schema.type === 'number') report(at, `${field} is a float`)
      }
    },
  },
]

function keyOf(properties: ReadonlyMap<string, unknown>): string | undefined {
  return ['name', 'type', 'key', 'id'].find(name => properties.has(name))
}
