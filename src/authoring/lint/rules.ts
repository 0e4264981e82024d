// Lint of validation rules: what they cost, and what they say.

import { UNBOUNDED } from '../../cel/index.js'
import { explainCosts } from '../../schema/explain-costs.js'
import { RULE_COST_LIMIT } from '../../schema/rules.js'
import { nodeAt, nodesBelow, type SchemaNode } from '../definitions.js'
import type { LintRule } from './lint-rule.js'

const COSTLY = 0.25

const BOUNDS: Readonly<Record<string, string>> = { string: 'maxLength', array: 'maxItems', object: 'maxProperties' }

export const ruleRules: readonly LintRule[] = [
  {
    name: 'unbounded-in-rule',
    severity: 'warning',
    reason:
      'A rule that reads a value of any size may cost more than the server allows once the schema or the rule grows.',
    check({ schemas }, report) {
      for (const { root } of schemas) {
        for (const node of nodesBelow(root)) {
          const texts = node.schema.extensions.rules.map(({ rule }) => rule)
          if (texts.length === 0) continue
          for (const below of nodesBelow(node)) {
            if (!isUnbounded(below) || !texts.some(text => reads(text, below, node))) continue
            const keyword = BOUNDS[below.schema.type]!
            report(below.at, `a rule of ${shown(node)} reads ${below.field}, which has no ${keyword}`, `add ${keyword}`)
          }
        }
      }
    },
  },
  {
    name: 'costly-rule',
    severity: 'warning',
    reason: 'The server refuses a definition whose rules cost too much; one near the limit cannot grow.',
    check({ schemas }, report) {
      for (const { version, root } of schemas) {
        for (const { field, total, compiled } of explainCosts(version.schema!.openAPIV3Schema!)) {
          if (total < COSTLY * RULE_COST_LIMIT || total >= UNBOUNDED) continue
          const node = nodeAt(root, field.replaceAll('[]', '[0]'))
          const index = node?.schema.extensions.rules.findIndex(({ rule }) => rule === compiled.rule.rule) ?? 0
          report(
            `${node?.at ?? root.at}.x-kubernetes-validations[${index}].rule`,
            `the rule may cost ${Math.round((total / RULE_COST_LIMIT) * 100)}% of what one rule may cost`,
            'binnacle cel explain shows which part costs most, and which bounds reduce it',
          )
        }
      }
    },
  },
  {
    name: 'rule-without-message',
    severity: 'note',
    reason: 'Without a message, users read the text of the rule.',
    hint: 'add a message that says what would be right',
    check({ schemas }, report) {
      for (const { root } of schemas) {
        for (const { schema, at } of nodesBelow(root)) {
          for (const [i, { rule, message, messageExpression }] of schema.extensions.rules.entries()) {
            if (message !== '' || messageExpression !== '') continue
            report(`${at}.x-kubernetes-validations[${i}]`, `the rule ${rule.trim()} has no message`)
          }
        }
      }
    },
  },
]

const shown = ({ field }: SchemaNode): string => (field === '' ? 'the object' : field)

function isUnbounded({ schema }: SchemaNode): boolean {
  const { type, checks, additionalProperties } = schema
  if (type === 'string')
    return checks.maxLength === undefined && checks.enum.length === 0 && !HAVE_A_LENGTH.has(checks.format)
  if (type === 'array') return checks.maxItems === undefined
  return type === 'object' && typeof additionalProperties === 'object' && checks.maxProperties === undefined
}

/** Formats whose values have a limited length. */
const HAVE_A_LENGTH: ReadonlySet<string> = new Set([
  'date',
  'date-time',
  'duration',
  'uuid',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
])

/** Whether a rule of `node` mentions the field; the value itself is `self`. */
function reads(text: string, { name, parent, schema }: SchemaNode, node: SchemaNode): boolean {
  if (parent === undefined || schema === node.schema) return /\bself\b(?!\.)/.test(text)
  if (name !== '') return new RegExp(`\\b${name.replaceAll(/\W/g, String.raw`\$&`)}\\b`).test(text)
  return false
}
