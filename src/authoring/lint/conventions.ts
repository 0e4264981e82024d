// Lint by the API conventions of Kubernetes.

import { nodesBelow } from '../definitions.js'
import type { LintRule } from './lint-rule.js'

export const conventionRules: readonly LintRule[] = [
  {
    name: 'field-name',
    severity: 'warning',
    reason:
      'Fields are camelCase: clients in other languages make identifiers of them, and CEL needs escapes for others.',
    check({ schemas }, report) {
      for (const { root } of schemas) {
        for (const { name, at, field } of nodesBelow(root)) {
          if (name === '' || /^[a-z][A-Za-z0-9]*$/.test(name)) continue
          report(at, `${field} is not camelCase`, `call it ${camelCase(name)}`)
        }
      }
    },
  },
  {
    name: 'missing-description',
    severity: 'note',
    reason: 'kubectl explain and editors show the description of a field.',
    hint: 'say what the field does, its unit, and what happens if it is left out',
    check({ schemas }, report) {
      for (const { root } of schemas) {
        for (const { schema, name, at, field } of nodesBelow(root)) {
          if (name === '' || TOP_LEVEL.has(field) || schema.description !== '') continue
          report(at, `${field} has no description`)
        }
      }
    },
  },
  {
    name: 'integer-format',
    severity: 'note',
    reason: 'Clients choose the type of an integer by its format; without one, a value may not fit.',
    hint: 'add format: int32 or format: int64',
    check({ schemas }, report) {
      for (const { root } of schemas) {
        for (const { schema, at, field } of nodesBelow(root)) {
          if (schema.type === 'integer' && schema.checks.format === '') report(at, `${field} has no format`)
        }
      }
    },
  },
  {
    name: 'spec-not-required',
    severity: 'note',
    reason: 'Required fields of spec are not required of an object that has no spec at all.',
    hint: 'add required: [spec] to the object',
    check({ schemas }, report) {
      for (const { root } of schemas) {
        const spec = root.schema.properties.get('spec')
        if (spec === undefined || spec.checks.required.length === 0 || spec.default !== undefined) continue
        if (!root.schema.checks.required.includes('spec'))
          report(root.at, 'spec has required fields and is not required itself')
      }
    },
  },
  {
    name: 'group-without-domain',
    severity: 'warning',
    reason: 'A group is a domain of its owner, so that groups of different owners never meet.',
    check({ spec: { group } }, report) {
      if (!group.includes('.'))
        report('spec.group', `the group ${group} is no domain`, `use a domain of yours: ${group}.example.com`)
    },
  },
  {
    name: 'deprecated-storage',
    severity: 'warning',
    reason: 'Objects are written in the storage version; one that is to go needs a migration first.',
    hint: 'store objects in a version that is not deprecated',
    check({ spec }, report) {
      for (const [i, { name, storage, deprecated }] of (spec.versions ?? []).entries()) {
        if (storage && deprecated) report(`spec.versions[${i}].storage`, `the storage version ${name} is deprecated`)
      }
    },
  },
]

/** What every object has needs no description. */
const TOP_LEVEL: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'spec', 'status'])

const camelCase = (name: string): string =>
  name
    .replace(/^[^A-Za-z]+/, '')
    .replace(/^[A-Z]/, first => first.toLowerCase())
    .replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9])?/g, (_, next: string = '') => next.toUpperCase())
