// Lint of the status, its conditions, and the columns.

import { nodeAt, type SchemaNode } from '../definitions.js'
import type { LintRule } from './lint-rule.js'

const CONDITION_FIELDS = ['type', 'status', 'lastTransitionTime', 'reason', 'message']

export const statusRules: readonly LintRule[] = [
  {
    name: 'status-without-subresource',
    severity: 'warning',
    reason:
      'Without the status subresource, every writer of the object may write its status, and a write of the status raises the generation.',
    hint: 'add subresources: {status: {}} to the version',
    check({ schemas, spec }, report) {
      for (const { root, version } of schemas) {
        const index = (spec.versions ?? []).indexOf(version)
        const status = nodeAt(root, 'status')
        if (status && version.subresources?.status === undefined) {
          report(status.at, `version ${version.name} has a status and no status subresource`)
        } else if (!status && version.subresources?.status !== undefined && root.schema.properties.size > 0) {
          const at = `spec.versions[${index}].subresources.status`
          report(
            at,
            `version ${version.name} has a status subresource and no status in its schema`,
            'describe the status',
          )
        }
      }
    },
  },
  {
    name: 'conditions',
    severity: 'warning',
    reason: 'kubectl wait and other tools read conditions as the API conventions describe them.',
    check({ schemas }, report) {
      for (const { root, version } of schemas) {
        const status = nodeAt(root, 'status')
        if (!status || status.schema.properties.size === 0) continue
        const conditions = nodeAt(root, 'status.conditions')
        if (conditions === undefined) {
          report(
            status.at,
            `the status of version ${version.name} has no conditions`,
            'add a list of conditions by type',
          )
        } else checkConditions(conditions, report)
      }
    },
  },
  {
    name: 'column-without-field',
    severity: 'warning',
    reason: 'A column whose path leads to no field of the schema is always empty.',
    check({ schemas, spec }, report) {
      for (const { root, version } of schemas) {
        const index = (spec.versions ?? []).indexOf(version)
        for (const [i, { name, jsonPath, type }] of (version.additionalPrinterColumns ?? []).entries()) {
          const at = `spec.versions[${index}].additionalPrinterColumns[${i}]`
          if (jsonPath.startsWith('.metadata')) continue
          const node = nodeAt(root, jsonPath.replace(/^\./, ''))
          if (node === undefined) {
            if (!keepsUnknown(root, jsonPath))
              report(`${at}.jsonPath`, `the column ${name} shows ${jsonPath}, which the schema does not have`)
          } else if (!fits(type, node)) {
            const message = `the column ${name} is of type ${type} and shows ${jsonPath}, which is of type ${node.schema.type}: it stays empty`
            report(`${at}.type`, message, `use type: ${node.schema.type}`)
          }
        }
      }
    },
  },
]

function checkConditions(
  { at, schema }: SchemaNode,
  report: (at: string, message: string, hint?: string) => void,
): void {
  if (schema.extensions.listType !== 'map' || schema.extensions.listMapKeys.join() !== 'type') {
    const hint = 'add x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [type]'
    report(
      at,
      'status.conditions is not a list by type, so that two controllers overwrite the conditions of each other',
      hint,
    )
  }
  const missing = CONDITION_FIELDS.filter(name => !schema.items?.properties.has(name))
  if (schema.items && schema.items.properties.size > 0 && missing.length > 0) {
    report(`${at}.items`, `conditions have no ${missing.join(', ')}`, `a condition has ${CONDITION_FIELDS.join(', ')}`)
  }
}

/** A path that leads below a node that keeps unknown fields may show something. */
function keepsUnknown(root: SchemaNode, jsonPath: string): boolean {
  const steps = jsonPath.replace(/^\./, '').split('.')
  for (let i = steps.length; i >= 0; i--) {
    const node = i === 0 ? root : nodeAt(root, steps.slice(0, i).join('.'))
    if (node !== undefined) return node.schema.extensions.preserveUnknownFields === true || node.schema.type === ''
  }
  return false
}

/** Cells of integer, number, boolean and date show nothing if the value is of another type. */
function fits(type: string, { schema }: SchemaNode): boolean {
  if (schema.extensions.intOrString || schema.type === '') return true
  switch (type) {
    case 'integer':
    case 'number':
      return schema.type === 'integer' || schema.type === 'number' || schema.type === 'array'
    case 'boolean':
      return schema.type === 'boolean' || schema.type === 'array'
    case 'date':
      return schema.type === 'string' || schema.type === 'array'
    default:
      return true
  }
}
